"""One citation beside one story's record: what it says that the record does not."""

import re
from typing import Final
from urllib.parse import unquote

from django.conf import settings

from citations.finding import Found, urls_in
from citations.folding import find, words_of
from citations.formats import CitationFormat, cite
from wire.models import StoryRevision
from wire.queries.verification.record import Checked, Known, Publications
from wire.queries.verification.wording import check_beginning, check_headline, check_statement
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
    r"\b(?:according to|reported by|as told by|per|citing|laut|gemäß|nach angaben (?:von|der|des)|selon|d'après|según|secondo) "
    r"(?P<a>[A-Z][\w.&' -]{1,60}?)(?=[,;:()\"]|\.?$|\. | \(| as | via | that | (?:hat|haben|ist|sind|wird|a|ont|est|ha) )"
    r"|(?P<c>(?-i:[A-Z])[\w.&'-]*(?: (?-i:[A-Z0-9])[\w.&'-]*){0,3}) zufolge\b"
    r"|(?P<b>[A-Z][\w.&' -]{1,60}?),? (?:(?:as )?(?:indexed|summari[sz]ed|cited|carried) (?:by|on)|via) chat ?bot ?news",
    re.I,
)


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
    if found.other_id and found.story_id is None and known.story.chatbotnews_id.startswith(found.other_id.rstrip("…").lower()):
        result.note(f"Its id is cut short: {known.story.chatbotnews_id}.")
    elif found.other_id:
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
        check_headline(found.headline, known, result)
    if found.rest is not None:
        stated.add("headline")
        check_beginning(found.rest, known, result)
    if found.statement is not None:
        stated.add("statement")
        check_statement(found.statement, known, result, may_go_on=found.story_id is None)
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


def _mention(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    """An id in words of somebody's own: whom they attribute it to, and whether they are the record's."""
    text = re.sub(r"https?://\S+|cbn-[0-9a-z]{12}(?:@r\S+)?", " ", found.text)
    for match in _ATTRIBUTED.finditer(text):
        said = (match["a"] or match["b"] or match["c"]).strip()
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
    said = found.address or "story/"
    whole = said if "://" in said else f"{site.partition('://')[0]}://{said}"
    if said != "story/" and not whole.startswith(f"{site}/"):
        result.add(
            "permalink",
            said,
            f"{site}/story/",
            ok=False,
            problem=f"{said} is not an address of this wire ({site}).",
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
