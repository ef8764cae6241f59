"""One citation beside one story's record: what it says that the record does not."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from urllib.parse import unquote

from django.conf import settings

from citations.finding import Found, urls_in
from citations.folding import find, is_cut, pieces, stands_in, words_of
from citations.formats import Citable, CitationFormat, cite
from citations.sentences import sentences
from sources import names
from sources.queries import known_names
from wire.models import Story, StoryRevision
from wire.snapshots.citing import citable
from wire.stories.identity import canonical_url
from wire.trust import CheckOut, QuotationOut

PROSE: Final = tuple(one for one in CitationFormat if one not in ("bibtex", "csl", "ris"))
NUMBER: Final = re.compile(r"\d")
# Words with which a mention leads to its story; whatever else stands in its sentence is held against the record.
_LEADS: Final = frozenset(
    [
        "according",
        "to",
        "as",
        "reported",
        "by",
        "summarized",
        "summarised",
        "indexed",
        "cited",
        "citing",
        "via",
        "see",
        "source",
        "sources",
        "read",
        "more",
        "at",
        "in",
        "on",
        "the",
        "a",
        "an",
        "and",
        "of",
        "from",
        "link",
        "story",
        "wire",
        "chatbotnews",
        "ai",
        "id",
        "this",
        "also",
        "here",
        "ref",
        "reference",
        "references",
        "tier",
        "crediting",
        "says",
        "said",
        "reports",
        "writes",
        "wrote",
        "https",
        "http",
        "www",
        "that",
        "with",
        "for",
    ]
)
_ATTRIBUTED: Final = re.compile(
    r"\b(?:according to|reported by|as told by|per|citing) (?P<a>[A-Z][\w.&' -]{1,60}?)(?=[,;:()]|\.?$|\. | \(| as | via | that )"
    r"|(?P<b>[A-Z][\w.&' -]{1,60}?),? (?:(?:as )?(?:indexed|summari[sz]ed|cited|carried) (?:by|on)|via) chat ?bot ?news",
    re.I,
)


class Known:
    """A story with every published revision."""

    def __init__(self, story: Story) -> None:
        assert story.current is not None, "surfaces read published revisions only"  # noqa: S101
        self.story = story
        self.current: StoryRevision = story.current
        published = [row for row in story.revisions.all() if row.revision <= story.current.revision]
        self.revisions = sorted(published, key=lambda row: -row.revision)
        self.urls = {story.original_url, *(alias.url for alias in story.aliases.all())}

    def citable(self, revision: StoryRevision) -> Citable:
        return citable(self.story, revision)

    @cached_property
    def texts(self) -> list[tuple[str, int, str]]:
        """What the record says: the name of the text, the revision, the text; the newest first."""
        found, seen = [], set()
        for row in self.revisions:
            for name in ("headline", "summary_medium"):
                text = getattr(row, name)
                if text and (name, text) not in seen:
                    seen.add((name, text))
                    found.append((name.removesuffix("_medium"), row.revision, text))
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word that the record has of it."""
        whole = [text for _, _, text in self.texts]
        for row in self.revisions:
            whole += [row.author or "", row.original_publisher, row.credited_source or ""]
        return frozenset(word for text in whole for word in words_of(text))

    def found_in(self, quoted: str) -> str | None:
        return next((f"{name}, revision {number}" for name, number, text in self.texts if stands_in(quoted, text)), None)


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


def check(found: Found, known: Known, publications: Publications) -> Checked:
    """Everything that the citation says, beside the record."""
    result = Checked()
    _identity(found, known, result)
    exact = _rendering(found, known)
    if exact is not None:
        result.revision = exact.revision if result.revision is None else result.revision
        result.checks.append(CheckOut(field="citation", said="word for word", record=f"revision {exact.revision}", ok=True))
    else:
        _fields(found, known, publications, result)
    _addresses(found, known, result)
    _correction(found, known, exact, result)
    if exact is None:
        for quoted in found.quotations:
            if words_of(quoted):
                where = known.found_in(quoted)
                result.quotations.append(QuotationOut(text=quoted, found_in=where))
                if where is None:
                    result.is_wrong = True
                    result.problems.append(f"The record has no words {quoted[:200]!r}, in no revision.")
    return result


def _identity(found: Found, known: Known, result: Checked) -> None:
    if found.other_id:
        result.add(
            "chatbotnews_id", found.other_id, known.story.chatbotnews_id, ok=False, problem="It names two different stories."
        )
    if found.revision is None:
        return
    row = next((row for row in known.revisions if row.revision == found.revision), None)
    last = known.current.revision
    result.add(
        "revision", str(found.revision), f"1 to {last}", ok=row is not None, problem=f"There is no revision {found.revision}."
    )
    if row is None:
        return
    result.revision = row.revision
    if found.pin:
        result.add("story_sha256", found.pin, row.story_sha256, ok=row.story_sha256.startswith(found.pin))


def _rendering(found: Found, known: Known) -> StoryRevision | None:
    """The newest revision of which one of the wire's own strings stands in the citation, word for word."""
    said = words_of(found.text)
    forms = PROSE if found.format is None or found.format in PROSE else (found.format,)
    if found.format is CitationFormat.INLINE or found.format is CitationFormat.LAYERED:
        forms = (found.format,)
    for row in known.revisions:
        if (found.revision is not None and row.revision != found.revision) or row.status == "withdrawn":
            continue
        for form in forms:
            rendered = cite(known.citable(row), form)
            pinned = f"@r{found.revision}" + (f":{found.pin}" if found.pin else "") if found.revision is not None else ""
            if pinned:
                rendered = rendered.replace(known.citable(row).permalink, known.citable(row).permalink + pinned)
            wanted = words_of(rendered)
            if find(wanted, said) >= 0 or (found.is_wrapped and "".join(wanted) in "".join(said)):
                return row
    return None


def _fields(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    """Of a citation that is not word for word what the wire gives: everything that it says, one by one."""
    stated = set()
    if found.publisher is not None:
        stated.add("publisher")
        _publisher(found, known, publications, result)
    if found.tier is not None:
        stated.add("tier")
        tier = known.current.original_publisher_tier
        result.add("tier", str(found.tier), str(tier), ok=found.tier == tier)
    if found.headline is not None:
        stated.add("headline")
        _headline(found.headline, known, result)
    if found.rest is not None:
        stated.add("headline")
        _headline_begins(found.rest, known, result)
    if found.statement is not None:
        stated.add("statement")
        _statement(found.statement, known, result)
    if found.original_url is not None:
        stated.add("url")
        result.add("original_url", found.original_url, known.story.original_url, ok=_is_url(found.original_url, known))
    if found.dates:
        stated.add("date")
        day = known.story.wire_date.isoformat()
        result.add("date", " ".join(found.dates), day, ok=all(day.startswith(date) for date in found.dates))
    if found.author is not None:
        stated.add("author")
        said = [word for word in words_of(found.author) if word != "and"]
        authors = {word for row in known.revisions for word in words_of(f"{row.author or ''} {row.original_publisher}")}
        result.add("author", found.author, known.current.author, ok=all(word in authors for word in said))
    if found.format is None:
        _mention(found, known, publications, result)
    elif missing := _REQUIRED[found.format] - stated:
        result.note(f"It is not the wire's own string and does not say: {', '.join(sorted(missing))}.")
    elif found.format in _UNREAD:
        result.note("It is not the wire's own string; compare it with `correct`.")


_REQUIRED: Final[dict[CitationFormat, set[str]]] = {
    CitationFormat.LAYERED: {"publisher", "statement"},
    CitationFormat.INLINE: {"publisher", "tier", "date", "headline"},
    CitationFormat.REFERENCE: {"publisher", "headline", "date", "url"},
    CitationFormat.ACADEMIC: {"publisher", "headline", "date"},
    CitationFormat.MARKDOWN: {"publisher", "headline"},
    CitationFormat.BIBTEX: {"publisher", "headline", "date", "url"},
    CitationFormat.CSL: {"publisher", "headline", "date", "url"},
    CitationFormat.RIS: {"publisher", "headline", "date", "url"},
    CitationFormat.APA: {"publisher", "date", "url"},
    CitationFormat.MLA: {"publisher", "headline", "date", "url"},
}
_UNREAD: Final = frozenset({CitationFormat.ACADEMIC, CitationFormat.APA, CitationFormat.MLA})
"""Whose authors cannot be told from the text before: what is not the wire's own string is never called verified."""


def _publisher(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    said, record = str(found.publisher), known.current.original_publisher
    words, right = words_of(said), words_of(record)
    begins_anywhere = found.format in (CitationFormat.REFERENCE, CitationFormat.MLA)
    ok = words == right or (begins_anywhere and words[-len(right) :] == right) or publications.canonical(said) == record
    credited = known.current.credited_source
    if not ok and credited:
        ok = words == words_of(f"{record}, crediting {credited}") or (
            begins_anywhere and words[-len(words_of(credited)) :] == words_of(credited)
        )
    problem = publications.outside(said)
    if problem:
        problem += f" The record says {record}."
    result.add("publisher", said, record, ok=ok, problem=problem)


def _headline(said: str, known: Known, result: Checked) -> None:
    words = words_of(said)
    for row in known.revisions:
        right = words_of(row.headline)
        if words == right or (is_cut(said) and stands_in(said, row.headline) and pieces(said)[0] == right[: len(pieces(said)[0])]):
            result.revision = result.revision or row.revision
            result.add("headline", said, row.headline, ok=True)
            return
    result.add("headline", said, known.current.headline, ok=False, problem=_difference("headline", said, known.current.headline))


def _headline_begins(rest: str, known: Known, result: Checked) -> None:
    """Of an inline citation: what follows the date begins with the headline."""
    words = words_of(rest)
    for row in known.revisions:
        right = words_of(row.headline)
        cut = pieces(re.split(r"(?<=\.\.\.)|(?<=…)", rest, maxsplit=1)[0])
        is_prefix = bool(cut) and "..." in rest[: len(row.headline) + 8] and len(cut[0]) > 2 and right[: len(cut[0])] == cut[0]
        if words[: len(right)] == right or is_prefix:
            result.revision = result.revision or row.revision
            result.add("headline", rest[: len(row.headline) + 10], row.headline, ok=True)
            return
    said = rest[: len(known.current.headline) + 20]
    result.add("headline", said, known.current.headline, ok=False, problem=_difference("headline", said, known.current.headline))


def _statement(said: str, known: Known, result: Checked) -> None:
    """The words after "as summarized by": those of the record, whole sentences of it, or a beginning that says that it was cut."""
    words = words_of(said)
    for row in known.revisions:
        story = known.citable(row)
        crediting = f"{story.credited_source} reported " if story.credited_source else ""
        if said.startswith(crediting):
            bare = words_of(said.removeprefix(crediting))
        else:
            bare = words
        for text in dict.fromkeys(
            (story.statement.text, row.summary_medium, row.headline, f"{row.headline}. {row.summary_medium}")
        ):
            if bare and _is_part(said.removeprefix(crediting), bare, text):
                result.revision = result.revision or row.revision
                result.add("statement", said, story.statement.text, ok=True)
                return
    current = known.citable(known.current).statement.text
    if known.found_in(said) is not None:
        result.checks.append(CheckOut(field="statement", said=said[:500], record=current, ok=True))
        result.note("Its words stand in the record, but without saying so it leaves out others beside them.")
    elif words and all(word in known.words for word in words):
        result.checks.append(CheckOut(field="statement", said=said[:500], record=current, ok=True))
        result.note("Its words are the record's, but not in their order: it is no quotation.")
    else:
        result.add("statement", said, current, ok=False, problem=_difference("statement", said, current))


def _is_part(said: str, words: tuple[str, ...], text: str) -> bool:
    whole = list(sentences(text))
    for begin in range(len(whole)):
        run: tuple[str, ...] = ()
        for sentence in whole[begin:]:
            run += words_of(sentence)
            if run == words:
                return True
    if not is_cut(said):
        return False
    first = pieces(said)[0] if pieces(said) else ()
    starts = (words_of(" ".join(whole[begin:])) for begin in range(len(whole)))
    return any(start[: len(first)] == first or _cut_in_word(first, start) for start in starts) and stands_in(said, text)


def _cut_in_word(first: tuple[str, ...], start: tuple[str, ...]) -> bool:
    last = len(first) - 1
    return last > 1 and start[:last] == first[:last] and len(start) > last and start[last].startswith(first[last])


def _mention(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    """An id in words of somebody's own: whom they attribute it to, and whether they are the record's."""
    text = re.sub(r"https?://\S+|cbn-[0-9a-z]{12}(?:@r\S+)?", " ", found.text)
    for match in _ATTRIBUTED.finditer(text):
        said = (match["a"] or match["b"]).strip()
        canonical, record = publications.canonical(said), known.current.original_publisher
        is_wires = bool(re.fullmatch(r"chat ?bot ?news(?:\.ai)?", said, re.I))
        if is_wires or all(word in known.words for word in words_of(said)):
            continue
        if canonical is not None or match["b"]:
            problem = publications.outside(said)
            result.add(
                "publisher", said, record, ok=canonical == record, problem=f"{problem} The record says {record}." if problem else ""
            )
    said_words = words_of(text)
    for words, name in publications.spelled.items():
        if (
            name != known.current.original_publisher
            and len(words)
            and find(words, words_of(_bracket(text))) >= 0
            and not set(words) <= known.words
        ):
            result.add("publisher", name, known.current.original_publisher, ok=False)
    strange = [word for word in said_words if word not in known.words and word not in _LEADS]
    dates = {part for date in (known.story.wire_date,) for part in words_of(f"{date.isoformat()} {date:%d %B %Y %-d %b}")}
    strange = [word for word in strange if word not in dates and word not in words_of(str(known.current.original_publisher_tier))]
    if len(strange) > 2 or any(NUMBER.search(word) for word in strange):
        listed = ", ".join(dict.fromkeys(strange[:8]))
        result.note(f"Words that the record does not have stand beside it ({listed}): compare them with `correct`.")


def _bracket(text: str) -> str:
    opened = text.rfind("(")
    return text[opened:] if opened >= 0 else ""


def _addresses(found: Found, known: Known, result: Checked) -> None:
    """Every address is one of the wire's or of the article's."""
    site = settings.WIRE_SITE_URL
    if found.address and found.address.startswith("http") and not found.address.startswith(f"{site}/"):
        result.add(
            "permalink",
            found.address,
            f"{site}/story/",
            ok=False,
            problem=f"{found.address} is not an address of this wire ({site}).",
        )
    if found.format is None or found.original_url is not None:
        return
    for url in urls_in(found.text if found.format != CitationFormat.INLINE else ""):
        if not (url.startswith(site) or (found.address and url.startswith(found.address)) or _is_url(url, known)):
            if found.format in (CitationFormat.LAYERED, CitationFormat.MARKDOWN) and any(url in text for _, _, text in known.texts):
                continue
            result.add("url", url, known.story.original_url, ok=False)


def _is_url(said: str, known: Known) -> bool:
    if {said, unquote(said)} & (known.urls | {unquote(url) for url in known.urls}):
        return True
    try:
        return canonical_url(said) in known.urls
    except ValueError:
        return False


def _correction(found: Found, known: Known, exact: StoryRevision | None, result: Checked) -> None:
    """A mark of correction is that of a revision."""
    days = {row.corrected_on.isoformat() for row in known.revisions if row.corrected_on}
    if found.corrected_on:
        result.add("corrected", found.corrected_on, ", ".join(sorted(days)) or None, ok=found.corrected_on in days)
    elif exact is None and known.current.corrected_on and found.format is not None and not result.is_wrong:
        result.note(f"It does not say that the story was corrected on {known.current.corrected_on}.")


def _difference(name: str, said: str, record: str) -> str:
    """Which words differ, where that can be said shortly."""
    theirs, ours = words_of(said), words_of(record)
    added, lost = [w for w in theirs if w not in ours], [w for w in ours if w not in theirs]
    parts = [f"not in the record: {', '.join(added[:8])}"] if added else []
    parts += [f"left out: {', '.join(lost[:8])}"] if lost else []
    return f"{name}: the record says {record!r}" + (f" ({'; '.join(parts)})." if parts else " (other order).")
