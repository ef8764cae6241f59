"""An id or permalink in words of the writer's own: the publisher that they name, and how they fit the record."""

import re
from typing import Final

from django.conf import settings

from citations.find.citation_match import CitationMatch
from citations.find.claim_context import LEADS, NO_WORDS, find_urls, has_own_words
from citations.find.dates import DATE, find_dates
from citations.find.normalize import find_phrase, fold_words
from citations.find.segments import ID
from citations.sentence_boundaries import split_sentences
from wire.models import StoryRevision
from wire.queries.verification.paraphrase_checks import ABOUT, MOSTLY, check_own_words
from wire.queries.verification.record import CheckResult, Publications, StoryRecord, parse_revision
from wire.text import claim_match
from wire.text.lexicons import load_lexicon
from wire.text.tokens import FILLERS

_DAYS: Final = (
    r"\b(?:{day:%B}|{day:%b})\.? {day.day}(?:st|nd|rd|th)?\b|\b{day.day}(?:st|nd|rd|th|\.)? (?:of )?(?:{day:%B}|{day:%b})\b"
)
_LEXICON: Final = load_lexicon("attributions")
_REPORTS: Final = "|".join(_LEXICON["reports"])
FITS, REWORDED, WRONG = range(3)
_LIGHT: Final = (LEADS | FILLERS) - claim_match.NEGATIONS
_SEGMENT: Final = re.compile(r",(?!\d{3})|[;:()\[\]|\"*_]+|[.!?](?:\s|$)|\s[-\u2013\u2014]+\s")
_ATTRIBUTED: Final = re.compile("|".join(_LEXICON["attributions"]), re.I)


def check_mention(found: CitationMatch, known: StoryRecord, publications: Publications, result: CheckResult) -> None:
    text = NO_WORDS.sub(" ", found.text)
    if not has_own_words(text) and (near := _choose_near(found.near, known)):
        text = NO_WORDS.sub(" ", f"{near} | {found.text}")
    said = DATE.sub(" ", text)
    _check_attribution(said, known, publications, result)
    result.add("chatbotnews_id", str(found.story_id), known.story.chatbotnews_id, ok=True)
    day = known.story.wire_date.isoformat()
    # Dates outside of a bracket are perhaps of something else.
    other_dates = [date for date in find_dates(text) if date not in found.dates and not day.startswith(date)]
    judged = [(*_judge_words(said, other_dates, row, known), row) for row in known.candidate_revisions(result.pinned)]
    level, problem, row = min(judged, key=lambda one: one[0])  # of those that fit as well as each other, the newest
    if level == WRONG:
        result.fail(problem)
    elif level == REWORDED:
        result.note(problem)
        check_own_words(text, known, result)
    for url in find_urls(found.text):
        if ID.search(url) is None and not known.has_url(url) and not url.startswith(settings.WIRE_SITE_URL):
            result.note(f"{url} is not an address of this story.")
    if row is not known.current and result.revision is None:
        result.revision = row.revision


def _choose_near(near: tuple[str, str], known: StoryRecord) -> str:
    """Return the one of these paragraphs that is about the story: with more of its words, if that is half of them."""
    shares = []
    for text in near:
        words = [word for word in fold_words(NO_WORDS.sub(" ", text)) if word not in _LIGHT]
        shares.append(sum(word in known.words for word in words) / len(words) if words else 0.0)
    return near[shares.index(max(shares))] if max(shares) >= 1 / 2 else ""


def check_text_behind(behind: str, known: StoryRecord, result: CheckResult) -> None:
    """Check how a sentence goes on behind a citation of one of the formats, which may be all that is wrong with it."""
    said = DATE.sub(" ", NO_WORDS.sub(" ", behind))
    if _LIGHT.issuperset(fold_words(said)):
        return
    level, problem = min(_judge_words(said, [], row, known) for row in known.candidate_revisions(result.pinned))
    if level == WRONG:
        result.fail(problem)
    elif level == REWORDED:
        result.note(f"The sentence goes on after the citation. {problem}")


def check_text_around(around: str, known: StoryRecord, result: CheckResult) -> None:
    """Check other sentences of its paragraph, which may be the writer's own: only what the record plainly says otherwise."""
    for sentence in split_sentences(DATE.sub(" ", NO_WORDS.sub(" ", around))):
        claim, reasons = claim_match.parse_statement(sentence), []
        for row in known.candidate_revisions(result.pinned):
            record = parse_revision(row)
            is_about = len((claim.stems & record.stems) - claim_match.COMMON) >= ABOUT
            reasons.append(claim_match.find_contradiction(claim, record) if is_about else "")
        if reasons and all(reasons):
            result.note(f"In a sentence next to the citation: {reasons[0]}")


def _judge_words(said: str, other_dates: list[str], row: StoryRevision, known: StoryRecord) -> tuple[int, str]:
    """Return how words fit a revision, and what is the matter with them."""
    date = known.story.wire_date
    text = re.sub(_DAYS.format(day=date), " ", said, flags=re.I)  # without a year; DATE has those with one
    text = re.sub(rf"(?:(?<=[|,;])|^)\s*{row.original_publisher_tier}\s*(?=[|,;]|$)", " ", text)  # its tier, as a field of a row
    named = f"{row.author or ''} {row.original_publisher} {row.credited_source or ''}"
    usual = {*fold_words(f"{row.headline} {row.summary_medium} {named} {date.year} {date:%B %b}"), *_LIGHT}
    strange = [*dict.fromkeys(word for word in fold_words(text) if word not in usual), *other_dates]
    if len(strange) <= (1 - MOSTLY) * len(fold_words(said)):
        reason = claim_match.find_contradiction(claim_match.parse_statement(said), parse_revision(row), is_whole=len(strange) <= 1)
        if reason:
            return WRONG, reason
    if strange:
        listed = ", ".join(strange[:8])
        return REWORDED, f"Words near it are not in the record ({listed}): compare them with `correct`."
    texts = [fold_words(text) for text in (row.headline, row.summary_medium, f"{row.author or ''} {row.original_publisher}")]
    for segment in _SEGMENT.split(said):
        words = fold_words(segment)
        content = [number for number, word in enumerate(words) if word not in LEADS]
        run = words[content[0] : content[-1] + 1] if content else ()
        if len(run) > 1 and all(find_phrase(run, text) < 0 for text in texts):
            return REWORDED, "Its words are the record's, but in another order: it is not a quotation."
    return FITS, ""


def _check_attribution(text: str, known: StoryRecord, publications: Publications, result: CheckResult) -> None:
    record = known.current.original_publisher
    for match in _ATTRIBUTED.finditer(text):
        said = (match["a"] or match["b"] or match["c"]).strip()
        canonical = publications.canonical_name(said)
        is_wires = re.fullmatch(r"chat ?bot ?news(?:\.ai)?", said, re.I)
        if not is_wires and not (known.words | LEADS).issuperset(fold_words(said)) and (canonical is not None or match["b"]):
            outsider = publications.describe_outsider(said)
            problem = f"{outsider} The record says {record}." if outsider else ""
            result.add("publisher", said, record, ok=canonical == record, problem=problem)
    if result.is_wrong or record in text:
        return
    opening = text.rfind("(")
    bracket = fold_words(text[opening:]) if opening >= 0 else ()
    for words, name in publications.by_words.items():
        is_named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) or (words and find_phrase(words, bracket) >= 0)
        if name == record or not is_named or set(words) <= known.words:
            continue
        # A name between two marks with nothing but words that lead to a story is no word of a sentence.
        segments = map(fold_words, _SEGMENT.split(text))
        is_apart = any(find_phrase(words, segment) >= 0 and LEADS.issuperset(set(segment) - set(words)) for segment in segments)
        if is_apart or re.search(_REPORTS.format(name=re.escape(name)), text):
            result.add("publisher", name, record, ok=False)
        else:
            result.note(f"It names {name}; the record says {record}.")
