"""An id or permalink in words of somebody's own: whom they attribute the story to, and whether they say what the record says."""

import re
from typing import Final

from django.conf import settings

from citations.context import LEADS, NO_WORDS, says, urls_in
from citations.dates import DATE, dates_in
from citations.folding import find, words_of
from citations.found import Found
from citations.passages import ID
from citations.sentences import sentences
from wire.models import StoryRevision
from wire.queries.verification.record import Checked, Known, Publications
from wire.stories import agreement
from wire.stories.wording import FILLERS
from wire.trust import CheckOut

MOSTLY: Final = 0.6  # share of its words that are the record's, from which what it says otherwise is said of this story
_DAYS: Final = (
    r"\b(?:{day:%B}|{day:%b})\.? {day.day}(?:st|nd|rd|th)?\b|\b{day.day}(?:st|nd|rd|th|\.)? (?:of )?(?:{day:%B}|{day:%b})\b"
)
_REPORTS: Final = (
    r"\b(?:by|from|via|per|in|to|citing|at|as) {name}\b(?! of )"
    r"|\b{name}(?:['’]s)? (?:says|said|reports|reported|writes|wrote|tells|told|notes|noted|claims|claimed|finds|found|has it)\b"
)
"""A name as one that reports, and no word of a sentence, as in "our Fortune 500 list"."""
ABOUT: Final = 2  # words that a sentence has of a story, from which it is about it
FITS, REWORDED, WRONG = range(3)
_LIGHT: Final = (LEADS | FILLERS) - agreement.NEGATIONS
_SEGMENT: Final = re.compile(r",(?!\d{3})|[;:()\[\]|\"*_]+|[.!?](?:\s|$)|\s[-\u2013\u2014]+\s")
_ATTRIBUTED: Final = re.compile(
    r"\b(?:according to|reported by|as told by|per|citing|laut|gemäß|nach angaben (?:von|der|des)|selon|d'après|según|secondo) "
    r"(?P<a>[A-Z][\w.&' -]{1,60}?)(?=[,;:()\"]|\.?$|\. | \(| as | via | that | (?:hat|haben|ist|sind|wird|a|ont|est|ha) )"
    r"|(?P<c>(?-i:[A-Z])[\w.&'-]*(?: (?-i:[A-Z0-9])[\w.&'-]*){0,3}) zufolge\b"
    r"|(?P<b>(?-i:[A-Z])[\w.&' -]{1,60}?),? (?:(?:as )?(?:indexed|summari[sz]ed|cited|carried) (?:by|on)|via) chat ?bot ?news",
    re.I,
)


def check_mention(found: Found, known: Known, publications: Publications, result: Checked) -> None:
    text = NO_WORDS.sub(" ", found.text)
    if not says(text) and (near := _nearest(found.near, known)):
        text = NO_WORDS.sub(" ", f"{near} | {found.text}")
    _attribution(DATE.sub(" ", text), known, publications, result)
    result.checks.append(CheckOut(field="chatbotnews_id", said=str(found.story_id), record=known.story.chatbotnews_id, ok=True))
    said = DATE.sub(" ", text)
    other_dates = _other_dates(text, found, known)
    judged = [(*_judged(said, other_dates, row, known), row) for row in known.meant(result.pinned)]
    level, problem, row = min(judged, key=lambda one: one[0])  # of those that fit as well as each other, the newest
    if level == WRONG:
        result.is_wrong = True
        result.problems.append(problem)
    elif level == REWORDED:
        result.note(problem)
    for url in urls_in(found.text):
        if ID.search(url) is None and not known.is_url(url) and not url.startswith(settings.WIRE_SITE_URL):
            result.note(f"{url} is no address of this story.")
    if row is not known.current and result.revision is None:
        result.revision = row.revision


def _nearest(near: tuple[str, str], known: Known) -> str:
    """Which of these paragraphs is about the story: the one with more of its words, if that is half of them."""
    shares = []
    for text in near:
        told = [word for word in words_of(NO_WORDS.sub(" ", text)) if word not in _LIGHT]
        shares.append(sum(word in known.words for word in told) / len(told) if told else 0.0)
    return near[shares.index(max(shares))] if max(shares) >= 1 / 2 else ""


def check_behind(behind: str, known: Known, result: Checked) -> None:
    """How a sentence goes on behind a citation of one of the formats, which may be all that is wrong with it."""
    said = DATE.sub(" ", NO_WORDS.sub(" ", behind))
    if all(word in _LIGHT for word in words_of(said)):
        return
    level, problem = min(_judged(said, [], row, known) for row in known.meant(result.pinned))
    if level == WRONG:
        result.is_wrong = True
        result.problems.append(problem)
    elif level == REWORDED:
        result.note(f"The sentence goes on behind it. {problem}")


def check_around(around: str, known: Known, result: Checked) -> None:
    """Other sentences of its paragraph, which may be the writer's own: only what the record plainly says otherwise."""
    for sentence in sentences(DATE.sub(" ", NO_WORDS.sub(" ", around))):
        read = agreement.read(sentence)
        reasons = []
        for row in known.meant(result.pinned):
            told = _read(row)
            about = (read.stems & told.stems) - agreement.COMMON
            reasons.append(agreement.contradiction(read, told) if len(about) >= ABOUT else "")
        if reasons and all(reasons):
            result.note(f"Of the sentence beside it: {reasons[0]}")


def _judged(said: str, other_dates: list[str], row: StoryRevision, known: Known) -> tuple[int, str]:
    """How words fit to a revision, and what is the matter with them."""
    strange = [*_strange(said, row, known), *other_dates]
    if len(strange) <= (1 - MOSTLY) * len(words_of(said)):
        reason = agreement.contradiction(agreement.read(said), _read(row), is_whole=len(strange) <= 1)
        if reason:
            return WRONG, reason
    if strange:
        listed = ", ".join(strange[:8])
        return REWORDED, f"Words that the record does not have stand beside it ({listed}): compare them with `correct`."
    if not all(_is_the_records(segment, row) for segment in _SEGMENT.split(said)):
        return REWORDED, "Its words are the record's, but not in their order: it is no quotation."
    return FITS, ""


def _attribution(text: str, known: Known, publications: Publications, result: Checked) -> None:
    """Whom the words name as the publisher."""
    record = known.current.original_publisher
    for match in _ATTRIBUTED.finditer(text):
        said = (match["a"] or match["b"] or match["c"]).strip()
        canonical = publications.canonical(said)
        is_wires = bool(re.fullmatch(r"chat ?bot ?news(?:\.ai)?", said, re.I))
        if is_wires or all(word in known.words or word in LEADS for word in words_of(said)):
            continue
        if canonical is not None or match["b"]:
            problem = publications.outside(said)
            problem = f"{problem} The record says {record}." if problem else ""
            result.add("publisher", said, record, ok=canonical == record, problem=problem)
    if result.is_wrong or record in text:
        return
    for words, name in publications.spelled.items():
        is_named = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) or (words and find(words, words_of(_bracket(text))) >= 0)
        if name == record or not is_named or set(words) <= known.words:
            continue
        if _stands_alone(words, text) or re.search(_REPORTS.format(name=re.escape(name)), text):
            result.add("publisher", name, record, ok=False)
        else:
            result.note(f"It names {name}; the record says {record}.")


def _stands_alone(name: tuple[str, ...], text: str) -> bool:
    """Whether a name stands between two marks with nothing but words that lead to a story, and is no word of a sentence."""
    segments = (words_of(segment) for segment in _SEGMENT.split(DATE.sub(" ", text)))
    return any(find(name, words) >= 0 and LEADS.issuperset(set(words) - set(name)) for words in segments)


def _read(row: StoryRevision) -> agreement.Said:
    return agreement.read(f"{row.headline}. {row.summary_medium}")


def _strange(text: str, row: StoryRevision, known: Known) -> list[str]:
    date = known.story.wire_date
    text = re.sub(_DAYS.format(day=date), " ", text, flags=re.I)  # without a year; DATE has those with one
    text = re.sub(rf"(?:(?<=[|,;])|^)\s*{row.original_publisher_tier}\s*(?=[|,;]|$)", " ", text)  # its tier, as a field of a row
    named = f"{row.author or ''} {row.original_publisher} {row.credited_source or ''}"
    told = words_of(f"{row.headline} {row.summary_medium} {named}")
    known_words = {*told, *_LIGHT, str(date.year), *words_of(f"{date:%B %b}")}
    found = (word for word in words_of(text) if word not in known_words)
    return list(dict.fromkeys(found))


def _other_dates(text: str, found: Found, known: Known) -> list[str]:
    """Dates outside of a bracket: perhaps of something else."""
    day = known.story.wire_date.isoformat()
    return [date for date in dates_in(text) if date not in found.dates and not day.startswith(date)]


def _is_the_records(segment: str, row: StoryRevision) -> bool:
    """Whether words between two marks stand like this in the record, those aside that only lead to it."""
    words = list(words_of(segment))
    while words and words[0] in LEADS:
        del words[0]
    while words and words[-1] in LEADS:
        del words[-1]
    texts = (row.headline, row.summary_medium, f"{row.author or ''} {row.original_publisher}")
    return len(words) < 2 or any(find(words, words_of(text)) >= 0 for text in texts)


def _bracket(text: str) -> str:
    opened = text.rfind("(")
    return text[opened:] if opened >= 0 else ""
