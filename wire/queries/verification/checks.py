"""One citation beside one story's record: what it says that the record does not."""

import re
from itertools import accumulate
from typing import Final

from django.conf import settings

from citations.context import LEADS, URL, urls_in
from citations.dates import DATE
from citations.folding import find, is_foreign, words_of
from citations.formats import CitationFormat, cite
from citations.found import Found
from wire.models import StoryRevision
from wire.queries.verification.mention import check_around, check_behind, check_mention
from wire.queries.verification.record import Checked, Known, Publications
from wire.queries.verification.wording import check_beginning, check_ending, check_headline, check_statement, goes_on
from wire.snapshots.citing import permalink
from wire.trust import CheckOut, QuotationOut

_DENIES: Final = re.compile(
    r"\b(?:(?:not (?:true|the case|correct|right)|un(?:true|founded)|false|wrong|incorrect|a lie|dispute[sd]?)(?: [\w']+){0,3}"
    r"|den(?:y|ies|ied)(?: [\w']+){0,5})[\s,:\"'(]*$",
    re.I,
)
SCARE: Final = 2  # words in quotation marks that need not quote anybody
BYLINE_WORDS: Final = 8
_PATHS: Final = ("/story/", "/api/stories/", "/api/citations/", "/api/proofs/", "/api/ninjs/stories/", "/event/", "/api/events/")
PROSE: Final = tuple(one for one in CitationFormat if one not in ("bibtex", "csl", "ris"))


def check(found: Found, known: Known, publications: Publications) -> Checked:
    """Everything that the citation says, beside the record."""
    result = Checked()
    _identity(found, known, result)
    rendered = _rendering(found, known)
    exact = rendered[0] if rendered else None
    if rendered and exact is not None:
        check_around(rendered[1], known, result)
        result.revision = exact.revision if result.revision is None else result.revision
        result.checks.append(CheckOut(field="citation", said="word for word", record=f"revision {exact.revision}", ok=True))
    else:
        _fields(found, known, publications, result)
    if _DENIES.search(f"{found.ahead} {rendered[2] if rendered else ''}"):
        result.note("The words before it deny it.")
    if found.behind:
        check_behind(found.behind, known, result)
    if found.around:
        check_around(found.around, known, result)
    _addresses(found, known, result)
    _correction(found, known, exact, result)
    if exact is None:
        for quoted in found.quotations:
            if words_of(quoted) and not _is_cell(quoted, known):
                _quotation(quoted, found, known, result)
    return result


def _is_cell(quoted: str, known: Known) -> bool:
    """Whether quotation marks stand around names, an address or a date, as in tables and in code."""
    names = f"{known.story.chatbotnews_id} {known.current.original_publisher} {known.current.author or ''}"
    said = DATE.sub(" ", URL.sub(" ", quoted))
    return LEADS.union(words_of(names)).issuperset(words_of(said))


def _quotation(quoted: str, found: Found, known: Known, result: Checked) -> None:
    """Quoted words stand in a text of the revision that is named, or of any, where none is."""
    places = known.places_of(quoted)
    at = next((one for one in places if one[1] == found.revision), None) if found.revision else next(iter(places), None)
    result.quotations.append(QuotationOut(text=quoted, found_in=f"{at[0]}, revision {at[1]}" if at else None))
    if at is not None:
        result.revision = at[1] if result.revision is None else min(result.revision, at[1])
    elif not places and len(words_of(quoted)) <= SCARE and not re.search(r"\d", quoted):
        result.note(f"The record has no words {quoted[:200]!r}.")
    elif not places and is_foreign(quoted) and not is_foreign(known.current.headline):
        result.note(f"The words {quoted[:200]!r} are of another language than the record: a translation is not compared.")
    else:
        result.is_wrong = True
        where = f"of revision {found.revision}; revision {places[0][1]} has them" if places else "in no revision"
        result.problems.append(f"The record has no words {quoted[:200]!r}, {where}.")


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
    result.revision = result.pinned = row.revision
    if found.pin:
        result.add("story_sha256", found.pin, row.story_sha256, ok=row.story_sha256.startswith(found.pin))


def _rendering(found: Found, known: Known) -> tuple[StoryRevision, str, str] | None:
    """The newest revision of which one of the wire's own strings stands in the citation, word for word; then the words beside it,
    and the last ones before it.
    """
    said = words_of(found.text)
    if found.unread or (found.rest is not None and any(goes_on(found.rest, row.headline) for row in known.revisions)):
        return None
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
            at = find(wanted, said)
            if at >= 0:
                before, behind = said[:at], said[at + len(wanted) :]
                is_record = found.format is not None and found.format not in PROSE
                return row, "" if is_record else f"{' '.join(before)}. {' '.join(behind)}", " ".join(before[-8:])
            if found.is_wrapped and _stands_in_wrapped(wanted, said):
                return row, "", ""
    return None


def _stands_in_wrapped(wanted: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether words stand in others in which lines may have been broken inside of words."""
    borders = {0, *accumulate(map(len, said))}
    whole, joined = "".join(wanted), "".join(said)
    at = joined.find(whole)
    return at >= 0 and at in borders and at + len(whole) in borders


def _fields(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    """Of a citation that is not word for word what the wire gives: everything that it says, one by one."""
    stated = set()
    if found.publisher is not None:
        stated.add("publisher")
        _publisher(found, known, publications, result)
    if found.credited is not None:
        credited = known.current.credited_source
        result.add("credited_source", found.credited, credited, ok=words_of(found.credited) == words_of(credited or ""))
    if found.tier is not None:
        stated.add("tier")
        tier = known.current.original_publisher_tier
        result.add("tier", str(found.tier), str(tier), ok=found.tier == tier)
    if found.headline is not None:
        stated.add("headline")
        check_headline(found.headline, known, result)
    if found.heading is not None:
        stated.add("headline")
        check_ending(found.heading, known, result)
    if found.rest is not None:
        stated.add("headline")
        check_beginning(found.rest, known, result)
    if found.statement is not None:
        stated.add("statement")
        check_statement(found.statement, known, result, may_go_on=found.is_open)
    if found.original_url is not None:
        stated.add("url")
        result.add(
            "original_url",
            found.original_url,
            known.story.original_url,
            ok=known.is_url(found.original_url) or _is_permalink(found.original_url, known),
        )
    if found.dates:
        stated.add("date")
        day = known.story.wire_date.isoformat()
        result.add("date", " ".join(found.dates), day, ok=all(day.startswith(date) for date in found.dates))
    if found.author is not None:
        stated.add("author")
        said = [word for word in words_of(found.author) if word != "and"]
        authors = {word for row in known.revisions for word in words_of(f"{row.author or ''} {row.original_publisher}")}
        result.add("author", found.author, known.current.author, ok=all(word in authors for word in said))
    if found.byline is not None:
        _byline(found.byline, known, result)
    if found.format is None:
        check_mention(found, known, publications, result)
    elif found.unread:
        result.note(f"It has fields that are not compared: {', '.join(dict.fromkeys(found.unread[:8]))}.")
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


def _byline(said: str, known: Known, result: Checked) -> None:
    """It ends with a name that has a word of the author's, or with the publisher; other text of the writer's may stand before."""
    words = words_of(said)
    for row in known.revisions:
        publisher, author = words_of(row.original_publisher), words_of(row.author or "")
        if words[-len(publisher) :] == publisher or any(len(word) > 2 and word in words[-BYLINE_WORDS:] for word in author):
            return
    result.add("author", " ".join(words[-BYLINE_WORDS:]), known.current.author or known.current.original_publisher, ok=False)


def _addresses(found: Found, known: Known, result: Checked) -> None:
    """Every address is one of the wire's or of the article's."""
    site = settings.WIRE_SITE_URL
    said = found.address or "story/"
    whole = said if "://" in said else f"{site.partition('://')[0]}://{said}"
    if said != "story/" and whole.lower() not in {f"{site}{path}".lower() for path in _PATHS}:
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
        if not (url.startswith(site) or (found.address and url.startswith(found.address)) or known.is_url(url)):
            if found.format in (CitationFormat.LAYERED, CitationFormat.MARKDOWN) and any(url in text for _, _, text in known.texts):
                continue
            if found.is_wrapped and site.startswith(url):
                continue  # a line ended in the wire's own address
            result.add("url", url, known.story.original_url, ok=False)


def _is_permalink(said: str, known: Known) -> bool:
    """Reference managers keep the wire's page as the address."""
    return said.partition("@r")[0] == permalink(known.story.chatbotnews_id)


def _correction(found: Found, known: Known, exact: StoryRevision | None, result: Checked) -> None:
    """A mark of correction is that of a revision."""
    is_earlier = result.revision is not None and result.revision < known.current.revision
    days = {row.corrected_on.isoformat() for row in known.revisions if row.corrected_on}
    if found.corrected_on:
        result.add("corrected", found.corrected_on, ", ".join(sorted(days)) or None, ok=found.corrected_on in days)
    elif exact is None and known.current.corrected_on and found.format is not None and not (result.is_wrong or is_earlier):
        result.note(f"It does not say that the story was corrected on {known.current.corrected_on}.")
