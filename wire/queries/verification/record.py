"""A story's record and the roster's names, as citations are held against them, and what came of one."""

from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from citations.folding import stands_in, words_of
from citations.formats import Citable
from sources import names
from sources.queries import known_names
from wire.models import Story, StoryRevision
from wire.snapshots.citing import citable
from wire.stories.identity import canonical_url
from wire.trust import CheckOut, QuotationOut


class Known:
    """A story with every published revision."""

    def __init__(self, story: Story) -> None:
        assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
        self.story = story
        self.current: StoryRevision = story.current
        self.revisions = [self.current]
        if self.current.revision > 1:  # as most are not, and many stories are looked at for one that names no id
            published = [row for row in story.revisions.all() if row.revision <= self.current.revision]
            self.revisions = sorted(published, key=lambda row: -row.revision)

    @cached_property
    def urls(self) -> set[str]:
        """Its addresses at the publisher, which few citations name."""
        return {self.story.original_url, *(alias.url for alias in self.story.aliases.all())}

    def is_url(self, said: str) -> bool:
        """Whether an address is the article's, its escapes and what only tracks readers aside."""
        if {said, unquote(said)} & (self.urls | {unquote(url) for url in self.urls}):
            return True
        try:
            return canonical_url(said) in self.urls
        except ValueError:
            return False

    def meant(self, pinned: int | None) -> list[StoryRevision]:
        """The revision that is pinned; every one, the newest first, where none is or where there is no such."""
        return [row for row in self.revisions if row.revision == pinned] or self.revisions

    def citable(self, revision: StoryRevision) -> Citable:
        return citable(self.story, revision)

    @cached_property
    def texts(self) -> list[tuple[str, int, str]]:
        """What the record says: the name of the text, the revision, the text; the newest first."""
        named = (("headline", "headline"), ("summary", "summary_medium"))
        return [(name, row.revision, text) for row in self.revisions for name, column in named if (text := getattr(row, column))]

    @cached_property
    def statements(self) -> dict[int, str]:
        """What the layered citation says of each revision."""
        return {row.revision: self.citable(row).statement.text for row in self.revisions}

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that the record has of it."""
        whole = [text for _, _, text in self.texts]
        for row in self.revisions:
            whole += [row.author or "", row.original_publisher, row.credited_source or ""]
        return frozenset(word for text in whole for word in words_of(text))

    def places_of(self, quoted: str) -> list[tuple[str, int]]:
        """Where quoted words stand, the newest first: the name of the text and the revision."""
        return [(name, number) for name, number, text in self.texts if stands_in(quoted, text)]


class Publications:
    """The names of the roster, read once for all citations of a text."""

    @cached_property
    def _names(self) -> list[names.Name]:
        return known_names()

    def canonical(self, said: str) -> str | None:
        """The roster's own spelling; None for a name outside it."""
        return names.verify(said.strip(" .,;:\"'*_"), self._names).canonical_name

    def outside(self, said: str) -> str:
        """A sentence about a name outside the roster; "" for one in it."""
        verdict = names.verify(said.strip(" .,;:\"'*_"), self._names)
        return "" if verdict.in_roster else f"{said.strip()[:80]!r} is not one of the 24 publications of this wire."

    @cached_property
    def spelled(self) -> dict[tuple[str, ...], str]:
        """Canonical names by their words."""
        return {words_of(one.canonical): one.canonical for one in self._names}


@dataclass
class Checked:
    """What came of a citation."""

    checks: list[CheckOut] = field(default_factory=list)
    quotations: list[QuotationOut] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    revision: int | None = None
    """The revision whose words it has."""
    pinned: int | None = None
    """The one that it names."""
    is_wrong: bool = False
    is_reworded: bool = False

    def add(self, name: str, said: str, record: str | None, *, ok: bool, problem: str = "") -> None:
        self.checks.append(CheckOut(field=name, said=said[:500], record=record, ok=ok))
        if not ok:
            self.is_wrong = True
            self.problems.append(problem or f"{name}: it says {said[:300]!r}, the record says {record!r}.")

    def note(self, text: str) -> None:
        self.is_reworded = True
        self.problems.append(text)
