"""What a writer says of a story in words of their own, held against its record: does what matters agree?"""

from typing import Final

from rapidfuzz import fuzz

from citations.find.claim_context import NO_WORDS
from citations.find.dates import DATE
from citations.find.footnotes import MARKER
from citations.find.normalize import fold_words
from citations.sentence_boundaries import split_sentences
from wire.models import StoryRevision
from wire.queries.verification.record import CheckResult, StoryRecord
from wire.text import claim_match
from wire.text.claim_match import Statement

ABOUT: Final = 2  # words that a text has of a story, from which it is about it
SOME: Final = 0.25  # share of its words that are the record's, from which a text is of this story …
HALF: Final = 0.5  # … and from which a sentence over a note says something of it
MOSTLY: Final = 0.6  # share of its words that are the record's, from which all of it is about the story
NEAR: Final = 80  # of 100: words so like the record's are a copy that somebody changed, and no words of their own
COPIED: Final = ("citation", "statement", "headline")  # checks of a citation that is the wire's own string, or was once
SUPPORTED, UNSUPPORTED, WRONG = range(3)


def check_own_words(said: str, known: StoryRecord, result: CheckResult, *, is_note: bool = False) -> None:
    """Check names, numbers, months, directions, denials, causes and overclaims; which words are chosen does not matter.

    `is_note`: these words stand over a number that leads to the citation.
    """
    text = MARKER.sub(" ", DATE.sub(" ", NO_WORDS.sub(" ", said)))
    # A sentence over a note that is the wire's own string may only lead to it: "The village has a new reader.[1]"
    is_lead = is_note and not result.is_reworded and any(one.field in COPIED for one in result.checks)
    if not fold_words(text) or (is_lead and not shares_words(text, known, HALF)):
        return
    level, problem = min(_judge_paraphrase(text, row, is_lead=is_lead) for row in known.candidate_revisions(result.pinned))
    if level == WRONG:
        result.fail(problem)
    elif level == UNSUPPORTED:
        result.is_unsupported = True
        result.note(problem)
    elif not is_lead and not result.is_reworded and not known.find_quote(text):
        result.note("It uses the writer's own words.")


def is_changed_copy(said: str, known: StoryRecord) -> bool:
    """Return whether these are the record's words but for a few, as in a citation that somebody changed."""
    theirs = " ".join(fold_words(said))
    texts = [text for _, _, text in known.texts] + [*known.statements.values()]
    wholes = [list(split_sentences(text)) for text in texts]
    parts = {*texts, *(sentence for whole in wholes for sentence in whole)}
    # Statements of other releases begin so.
    parts |= {" ".join(whole[:end]) for whole in wholes for end in range(2, len(whole))}
    return any(fuzz.token_sort_ratio(theirs, " ".join(fold_words(part))) >= NEAR for part in parts)


def shares_words(said: str, known: StoryRecord, least: float = SOME) -> bool:
    """Return whether a text has enough of the record's words to be about it; else it is of another story."""
    return measure_word_share(said, known) >= least


def measure_word_share(said: str, known: StoryRecord) -> float:
    """Return the share of a text's words that are the record's, 0 to 1; 1 for a text without words."""
    told = claim_match.parse_statement(NO_WORDS.sub(" ", said)).told
    return max(len(told & parse_whole_record(row).stems) for row in known.revisions) / len(told) if told else 1.0


def _judge_paraphrase(said: str, row: StoryRevision, *, is_lead: bool) -> tuple[int, str]:
    """Return how words fit a revision, and what is the matter with them; `is_lead`: only figures and names matter."""
    claim, record = claim_match.parse_statement(said), parse_whole_record(row)
    shared = (claim.stems & record.stems) - claim_match.COMMON
    is_mostly = len(claim.told & record.stems) >= MOSTLY * len(claim.told)
    if len(shared) >= ABOUT:
        if figure := claim_match.find_other_figure(claim, record):
            return WRONG, figure
        if not is_lead and (reason := claim_match.find_contradiction(claim, record, is_whole=is_mostly)):
            return UNSUPPORTED, reason
    if names := claim_match.list_missing_names(claim, record):
        return UNSUPPORTED, f"It names {', '.join(names[:6])}, which the record does not."
    if numbers := claim_match.list_missing_numbers(claim, record):
        return UNSUPPORTED, f"The record does not say {', '.join(numbers[:6])}."
    if is_lead:
        return SUPPORTED, ""
    if word := claim_match.find_overclaim(claim, record):
        return UNSUPPORTED, f"The record does not say {word!r}."
    if cause := claim_match.find_missing_cause(claim, record):
        return UNSUPPORTED, f"The record gives no cause ({cause!r})."
    if len(shared) < ABOUT:
        return UNSUPPORTED, "It has hardly a word in common with the record."
    return SUPPORTED, ""


def parse_whole_record(row: StoryRevision) -> Statement:
    """Return what a revision says, with who says it and when."""
    at = row.published_at
    said_by = f"{row.original_publisher} {row.author or ''} {row.credited_source or ''}"
    return claim_match.parse_statement(f"{row.headline}. {row.summary_medium} ({said_by}, {at:%A} {at.day} {at:%B %Y})")
