"""Checks of one citation against one story's record."""

import re
from itertools import accumulate
from typing import Final

from django.conf import settings

from citations.find.citation_match import CitationMatch
from citations.find.claim_context import LEADS, URL, find_open_bracket, find_urls
from citations.find.dates import DATE
from citations.find.normalize import find_phrase, fold_words, is_not_english
from citations.format.formats import CitationFormat, cite_story
from wire.models import StoryRevision
from wire.publishing.story_json import get_permalink
from wire.queries.verification.mention_checks import check_mention, check_text_around, check_text_behind
from wire.queries.verification.paraphrase_checks import check_own_words
from wire.queries.verification.record import CheckResult, Publications, StoryRecord
from wire.queries.verification.wording_checks import check_end, check_headline, check_start, check_statement, is_extended
from wire.schemas.proofs import QuotationOut
from wire.text.lexicons import load_lexicon

_DENIES: Final = re.compile("|".join(load_lexicon("attributions")["denials"]), re.I)
SCARE: Final = 2  # words in quotation marks that need not quote anybody
BYLINE_WORDS: Final = 8
_PATHS: Final = ("/story/", "/api/stories/", "/api/citations/", "/api/proofs/", "/api/ninjs/stories/", "/event/", "/api/events/")
RECORDS: Final = (CitationFormat.BIBTEX, CitationFormat.CSL, CitationFormat.RIS)
FIXED: Final = (*RECORDS, CitationFormat.INLINE, CitationFormat.LAYERED)  # are not taken for another format
PROSE: Final = tuple(form for form in CitationFormat if form not in RECORDS)
_REQUIRED: Final = dict.fromkeys(CitationFormat, "date headline publisher url") | {  # in the order of the alphabet
    CitationFormat.LAYERED: "publisher statement",
    CitationFormat.INLINE: "date headline publisher tier",
    CitationFormat.ACADEMIC: "date headline publisher",
    CitationFormat.MARKDOWN: "headline publisher",
    CitationFormat.APA: "date publisher url",
}
# Their authors cannot be told from the text before: what is not the wire's own string is never called verified.
_UNREAD: Final = (CitationFormat.ACADEMIC, CitationFormat.APA, CitationFormat.MLA)


def check_citation(found: CitationMatch, known: StoryRecord, publications: Publications) -> CheckResult:
    result = CheckResult()
    _check_identity(found, known, result)
    rendered = _find_rendering(found, known)
    if rendered:
        row, beside, before = rendered
        check_text_around(beside, known, result)
        result.revision = row.revision if result.revision is None else result.revision
        result.add("citation", "word for word", f"revision {row.revision}", ok=True)
    else:
        before = ""
        _check_fields(found, known, publications, result)
    if _DENIES.search(f"{found.ahead} {before}"):
        result.note("The words before the citation deny it.")
    if found.behind:
        check_text_behind(found.behind, known, result)
    if found.around:
        check_text_around(found.around, known, result)
    _check_addresses(found, known, result)
    _check_correction(found, known, result, is_exact=bool(rendered))
    for quoted in found.quotations if not rendered else ():
        # Marks stand around names, an address or a date in tables and in code, too: those quote nobody.
        names = f"{known.story.chatbotnews_id} {known.current.original_publisher} {known.current.author or ''}"
        if fold_words(quoted) and not LEADS.union(fold_words(names)).issuperset(fold_words(DATE.sub(" ", URL.sub(" ", quoted)))):
            _check_quotation(quoted, found, known, result)
    return result


def _check_quotation(quoted: str, found: CitationMatch, known: StoryRecord, result: CheckResult) -> None:
    """Check that quoted words stand in a text of the revision that is named, or of any, where none is."""
    places = known.find_quote(quoted)
    at = next((place for place in places if not found.revision or place[1] == found.revision), None)
    result.quotations.append(QuotationOut(text=quoted, found_in=f"{at[0]}, revision {at[1]}" if at else None))
    if at is not None:
        result.revision = at[1] if result.revision is None else min(result.revision, at[1])
    elif not places and len(fold_words(quoted)) <= SCARE and not re.search(r"\d", quoted):
        result.note(f"The words {quoted[:200]!r} are not in the record.")
    elif not places and is_not_english(quoted) and not is_not_english(known.current.headline):
        result.note(f"The words {quoted[:200]!r} are not in the record's language: translations are not compared.")
    else:
        where = f"revision {found.revision}; revision {places[0][1]} has them" if places else "any revision"
        result.fail(f"The words {quoted[:200]!r} are not in {where}.")


def _check_identity(found: CitationMatch, known: StoryRecord, result: CheckResult) -> None:
    story_id = known.story.chatbotnews_id
    if found.other_id and found.story_id is None and story_id.startswith(found.other_id.rstrip("…").lower()):
        result.note(f"Its id is cut short: {story_id}.")
    elif found.other_id:
        result.add("chatbotnews_id", found.other_id, story_id, ok=False, problem="It names two different stories.")
    if found.revision is None:
        return
    row = next((row for row in known.revisions if row.revision == found.revision), None)
    problem, revisions = f"There is no revision {found.revision}.", f"1 to {known.current.revision}"
    result.add("revision", str(found.revision), revisions, ok=row is not None, problem=problem)
    if row is None:
        return
    result.revision = result.pinned = row.revision
    if found.pin:
        result.add("story_sha256", found.pin, row.story_sha256, ok=row.story_sha256.startswith(found.pin))


def _find_rendering(found: CitationMatch, known: StoryRecord) -> tuple[StoryRevision, str, str] | None:
    """Return the newest revision of which one of the wire's own strings stands in the citation, word for word; then the words
    beside it, and the last ones before it.
    """
    said = fold_words(found.text)
    if found.unread or (found.rest is not None and any(is_extended(found.rest, row.headline) for row in known.revisions)):
        return None
    is_record = found.format in RECORDS
    forms = (found.format,) if found.format and found.format in FIXED else PROSE
    pin = f"@r{found.revision}" + (f":{found.pin}" if found.pin else "") if found.revision is not None else ""
    for row in known.revisions:
        if (found.revision is not None and row.revision != found.revision) or row.status == "withdrawn":
            continue
        story = known.citable(row)
        for form in forms:
            wanted = fold_words(cite_story(story, form).replace(story.permalink, story.permalink + pin))
            if (at := find_phrase(wanted, said)) >= 0:
                before, behind = said[:at], said[at + len(wanted) :]
                return row, "" if is_record else f"{' '.join(before)}. {' '.join(behind)}", " ".join(before[-8:])
            if found.is_wrapped and _has_wrapped_words(said, wanted):
                return row, "", ""
    return None


def _has_wrapped_words(said: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Return true if words stand in others in which lines may have been broken inside of words."""
    borders, whole = {0, *accumulate(map(len, said))}, "".join(wanted)
    at = "".join(said).find(whole)
    return at >= 0 and at in borders and at + len(whole) in borders


def _check_fields(found: CitationMatch, known: StoryRecord, publications: Publications, result: CheckResult) -> None:
    """Check one by one what a citation says that is not word for word what the wire gives."""
    current, is_named = known.current, found.story_id is not None
    if found.publisher is not None:
        _check_publisher(found, known, publications, result)
    if found.credited is not None:
        is_credited = fold_words(found.credited) == fold_words(current.credited_source or "")
        result.add("credited_source", found.credited, current.credited_source, ok=is_credited)
    if found.tier is not None:
        tier = current.original_publisher_tier
        result.add("tier", str(found.tier), str(tier), ok=found.tier == tier)
    if found.headline is not None:
        check_headline(found.headline, known, result)
    if found.heading is not None:
        check_end(found.heading, known, result)
    if fold_words(found.rest or ""):
        check_start(str(found.rest), known, result, is_named=is_named)
    elif found.format == CitationFormat.INLINE and find_open_bracket(found.ahead):  # what it cites stands before it
        check_own_words(found.ahead, known, result)
    elif found.rest is not None:
        check_start(found.rest, known, result, is_named=is_named)
    if found.statement is not None:
        check_statement(found.statement, known, result, is_named=is_named, may_go_on=found.is_open)
    if (url := found.original_url) is not None:
        # Reference managers keep the wire's page as the address.
        is_own = known.has_url(url) or url.partition("@r")[0] == get_permalink(known.story.chatbotnews_id)
        result.add("original_url", url, known.story.original_url, ok=is_own)
    if found.dates:
        day = known.story.wire_date.isoformat()
        result.add("date", " ".join(found.dates), day, ok=all(day.startswith(date) for date in found.dates))
    if found.author is not None:
        authors = {word for row in known.revisions for word in fold_words(f"{row.author or ''} {row.original_publisher}")}
        result.add("author", found.author, current.author, ok=(authors | {"and"}).issuperset(fold_words(found.author)))
    if found.byline is not None:
        _check_byline(found.byline, known, result)
    headlines = (found.headline, found.heading, found.rest)
    said = {
        "publisher": found.publisher,
        "tier": found.tier,
        "headline": next((headline for headline in headlines if headline is not None), None),
        "statement": found.statement,
        "url": found.original_url,
        "date": found.dates or None,
    }
    if found.format is None:
        check_mention(found, known, publications, result)
    elif found.unread:
        result.note(f"It has fields that are not compared: {', '.join(dict.fromkeys(found.unread[:8]))}.")
    elif missing := [name for name in _REQUIRED[found.format].split() if said[name] is None]:
        result.note(f"It is not the wire's own string and does not say: {', '.join(missing)}.")
    elif found.format in _UNREAD:
        result.note("It is not the wire's own string; compare it with `correct`.")


def _check_publisher(found: CitationMatch, known: StoryRecord, publications: Publications, result: CheckResult) -> None:
    said, record, credited = str(found.publisher), known.current.original_publisher, known.current.credited_source
    words, names = fold_words(said), [fold_words(record)]
    if credited:
        names += [fold_words(credited)]
    begins_anywhere = found.format in (CitationFormat.REFERENCE, CitationFormat.MLA)
    is_named = any(words[-len(name) :] == name for name in names) if begins_anywhere else words == names[0]
    is_credited = credited is not None and words == fold_words(f"{record}, crediting {credited}")
    ok = is_named or is_credited or publications.canonical_name(said) == record
    problem = publications.describe_outsider(said)
    result.add("publisher", said, record, ok=ok, problem=f"{problem} The record says {record}." if problem else "")


def _check_byline(said: str, known: StoryRecord, result: CheckResult) -> None:
    """Check that it ends with a word of the author's name, or with the publisher; text of the writer's own may stand before."""
    words = fold_words(said)
    last = words[-BYLINE_WORDS:]
    for row in known.revisions:
        publisher, author = fold_words(row.original_publisher), fold_words(row.author or "")
        if words[-len(publisher) :] == publisher or any(len(word) > 2 and word in last for word in author):
            return
    result.add("author", " ".join(last), known.current.author or known.current.original_publisher, ok=False)


def _check_addresses(found: CitationMatch, known: StoryRecord, result: CheckResult) -> None:
    site, said = settings.WIRE_SITE_URL, found.address or "story/"
    whole = said if "://" in said else f"{site.partition('://')[0]}://{said}"
    if said != "story/" and whole.lower() not in {f"{site}{path}".lower() for path in _PATHS}:
        problem = f"{said} is not an address of this wire ({site})."
        result.add("permalink", said, f"{site}/story/", ok=False, problem=problem)
    if found.format in (None, CitationFormat.INLINE) or found.original_url is not None:
        return
    for url in find_urls(found.text):
        is_own = url.startswith(site) or (found.address and url.startswith(found.address)) or known.has_url(url)
        in_words = found.format in (CitationFormat.LAYERED, CitationFormat.MARKDOWN) and any(
            url in text for _, _, text in known.texts
        )
        is_broken = found.is_wrapped and site.startswith(url)  # a line ended in the wire's own address
        if not (is_own or in_words or is_broken):
            result.add("url", url, known.story.original_url, ok=False)


def _check_correction(found: CitationMatch, known: StoryRecord, result: CheckResult, *, is_exact: bool) -> None:
    current = known.current
    is_earlier = result.revision is not None and result.revision < current.revision
    if found.corrected_on:
        days = sorted({row.corrected_on.isoformat() for row in known.revisions if row.corrected_on})
        result.add("corrected", found.corrected_on, ", ".join(days) or None, ok=found.corrected_on in days)
    elif current.corrected_on and found.format is not None and not is_exact and not result.is_wrong and not is_earlier:
        result.note(f"It does not say that the story was corrected on {current.corrected_on}.")
