"""A story's record and the roster's names, as citations are compared with them, and the findings about one citation."""

from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from citations.find.normalize import fold_words, is_quoted_from
from citations.format.formats import Citable
from sources import publication_names
from sources.queries import list_known_names
from wire.models import Story, StoryRevision
from wire.publishing.story_json import to_citable
from wire.schemas.proofs import CheckOut, QuotationOut
from wire.text.claim_match import Statement, parse_statement
from wire.text.identity import canonical_url


class StoryRecord:
    """A story with every published revision, the newest first."""

    def __init__(self, story: Story) -> None:
        assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
        self.story = story
        self.current: StoryRevision = story.current
        self.revisions = [self.current]
        if self.current.revision > 1:  # most have one, and an id that is missing makes many stories be looked at
            published = [row for row in story.revisions.all() if row.revision <= self.current.revision]
            self.revisions = sorted(published, key=lambda row: -row.revision)

    @cached_property
    def urls(self) -> set[str]:
        """Its addresses at the publisher, which few citations name."""
        return {self.story.original_url, *(alias.url for alias in self.story.aliases.all())}

    def has_url(self, said: str) -> bool:
        """Return true for an address of the article, its escapes and what only tracks readers aside."""
        if {said, unquote(said)} & (self.urls | {unquote(url) for url in self.urls}):
            return True
        try:
            return canonical_url(said) in self.urls
        except ValueError:
            return False

    def candidate_revisions(self, pinned: int | None) -> list[StoryRevision]:
        """Return the revision that is pinned; all, the newest first, where none is or where there is no such."""
        return [row for row in self.revisions if row.revision == pinned] or self.revisions

    def citable(self, revision: StoryRevision) -> Citable:
        return to_citable(self.story, revision)

    @cached_property
    def texts(self) -> list[tuple[str, int, str]]:
        """Name of the text, revision, text; the newest first."""
        named = (("headline", "headline"), ("summary", "summary_medium"))
        return [(name, row.revision, text) for row in self.revisions for name, column in named if (text := getattr(row, column))]

    @cached_property
    def statements(self) -> dict[int, str]:
        """Statement of the layered citation by revision."""
        return {row.revision: self.citable(row).statement.text for row in self.revisions}

    @cached_property
    def words(self) -> frozenset[str]:
        names_of = (f"{row.author or ''} {row.original_publisher} {row.credited_source or ''}" for row in self.revisions)
        return frozenset(word for text in (*(text for _, _, text in self.texts), *names_of) for word in fold_words(text))

    def find_quote(self, quoted: str) -> list[tuple[str, int]]:
        """Return where quoted words stand, the newest first: the name of the text and the revision."""
        return [(name, number) for name, number, text in self.texts if is_quoted_from(quoted, text)]


def parse_revision(row: StoryRevision) -> Statement:
    return parse_statement(f"{row.headline}. {row.summary_medium}")


class Publications:
    """The names of the roster, read once for all citations of a text."""

    @cached_property
    def _names(self) -> list[publication_names.Name]:
        return list_known_names()

    def canonical_name(self, said: str) -> str | None:
        """Return the roster's own spelling; None for a name outside it."""
        return publication_names.verify_name(said.strip(" .,;:\"'*_"), self._names).canonical_name

    def describe_outsider(self, said: str) -> str:
        """Return a sentence about a name outside the roster; "" for one in it."""
        verdict = publication_names.verify_name(said.strip(" .,;:\"'*_"), self._names)
        return "" if verdict.in_roster else f"{said.strip()[:80]!r} is not one of the 24 publications of this wire."

    @cached_property
    def by_words(self) -> dict[tuple[str, ...], str]:
        return {fold_words(one.canonical): one.canonical for one in self._names}


@dataclass
class CheckResult:
    """Findings about one citation."""

    checks: list[CheckOut] = field(default_factory=list)
    quotations: list[QuotationOut] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    revision: int | None = None  # whose words it has
    pinned: int | None = None  # which it names
    is_wrong: bool = False
    is_reworded: bool = False
    is_unsupported: bool = False  # in words of the writer's own it says what the record does not

    def add(self, name: str, said: str, record: str | None, *, ok: bool, problem: str = "") -> None:
        self.checks.append(CheckOut(field=name, said=said[:500], record=record, ok=ok))
        if not ok:
            self.fail(problem or f"{name}: it says {said[:300]!r}, the record says {record!r}.")

    def accept(self, name: str, said: str, record: str, revision: int) -> None:
        self.revision = self.revision or revision
        self.add(name, said, record, ok=True)

    def fail(self, problem: str) -> None:
        self.is_wrong = True
        self.problems.append(problem)

    def note(self, text: str) -> None:
        self.is_reworded = True
        self.problems.append(text)
