"""Whether what a text says of the wire is so: every citation in it, found and held against the record."""

from collections.abc import Iterable
from typing import Final

from citations.finding import find_citations
from citations.formats import CitationFormat, cite
from citations.found import Found
from citations.markup import unmarked
from wire.models import Story
from wire.queries.verification.checks import check
from wire.queries.verification.record import Checked, Known, Publications
from wire.queries.verification.resolving import resolve
from wire.snapshots.citing import citable, permalink
from wire.stories.identity import is_story_id
from wire.stories.vocabulary import Status
from wire.trust import VerifiedCitation, VerifiedOut

MOST: Final = 100  # citations of one text
MAX_TEXT: Final = 20_000  # characters
NONE_FOUND: Final = (
    "No citation of this wire was found. One names an id (cbn-…), a permalink, or says 'as summarized by ChatbotNews.ai' or "
    "'ChatbotNews.ai, citing …'."
)
NOT_JUDGED: Final = "Checked against what the wire recorded; whether the publisher's report is true is not judged."


def verify_citation(text: str) -> VerifiedOut:
    """Every citation of the wire in `text`, in any of its formats or as an id or permalink, each held against the record.

    Raises nothing for any text; at most MOST citations are answered.
    """
    is_cut, text = len(text) > MAX_TEXT, text[:MAX_TEXT]
    citations, left = _citations(text)
    plain = unmarked(text)
    if plain != text:  # HTML or LaTeX, unless a headline is about tags: then the wire's own strings stand in it as it is
        as_read, left_of_it = _citations(plain)
        if _exact(as_read) >= _exact(citations):
            citations, left = as_read, left_of_it
    return VerifiedOut(
        citations=citations,
        found=len(citations),
        verified=sum(one.verdict == "verified" for one in citations),
        notes=" ".join(filter(None, (_unread(left, is_cut), NOT_JUDGED if citations else NONE_FOUND))),
    )


def _unread(left: int, is_cut: bool) -> str:
    """What of a text was not checked, and what to do."""
    if not left and not is_cut:
        return ""
    more = (
        f"{left} more citations were found and not checked" if left else f"The text was read up to its character {MAX_TEXT:,} only"
    )
    return f"{more}: send the rest by itself."


def _exact(citations: list[VerifiedCitation]) -> int:
    """How many are the wire's own strings, word for word."""
    return sum(check.field == "citation" for one in citations for check in one.checks)


def _citations(text: str) -> tuple[list[VerifiedCitation], int]:
    """The first MOST of a text, and how many there are beyond them."""
    everything = find_citations(text)
    found = everything[:MOST]
    stories = _stories({one.story_id for one in found if one.story_id is not None and is_story_id(one.story_id)})
    publications = Publications()
    strays = [one for one in found if one.story_id not in stories]
    meant = dict(zip(map(id, strays), resolve(strays, publications) if strays else [], strict=True))
    verified = [_verified(one, stories.get(one.story_id or ""), meant.get(id(one), []), publications) for one in found]
    return verified, len(everything) - len(found)


def _stories(ids: Iterable[str]) -> dict[str, Known]:
    rows = Story.objects.published().filter(chatbotnews_id__in=list(ids)).with_text().prefetch_related("revisions", "aliases")
    return {story.chatbotnews_id: Known(story) for story in rows}


def _verified(found: Found, known: Known | None, meant: list[Known], publications: Publications) -> VerifiedCitation:
    """`known`: the story that it names; `meant`: where there is none, those that say the same."""
    if known is None and (len(meant) != 1 or found.story_id is not None):
        return _unknown(found, meant, publications)
    story = known or meant[0]
    return _answer(found, story, check(found, story, publications))


def _answer(found: Found, known: Known, result: Checked) -> VerifiedCitation:
    story, current = known.story, known.current
    is_withdrawn = story.status == Status.WITHDRAWN
    problems = list(result.problems)
    if is_withdrawn:
        problems.append("The story was withdrawn and must not be cited.")
    elif result.revision is not None and result.revision < current.revision:
        problems.append(f"It is of revision {result.revision}; revision {current.revision} is current ({story.status}).")
    if result.is_wrong:
        verdict = "wrong"
    elif result.is_reworded:
        verdict = "reworded"
    else:
        outdated = is_withdrawn or (result.revision is not None and result.revision < current.revision)
        verdict = "outdated" if outdated else "verified"
    form = found.format or CitationFormat.LAYERED
    return VerifiedCitation(
        text=found.text[:2_000],
        format=str(found.format or "mention"),
        verdict=verdict,  # type: ignore[arg-type]
        problems=problems,
        checks=result.checks,
        quotations=result.quotations,
        story_id=story.chatbotnews_id,
        permalink=permalink(story.chatbotnews_id),
        status=story.status,
        revision=current.revision,
        cited_revision=result.revision,
        story_sha256=current.story_sha256,
        correct=None if is_withdrawn else cite(citable(story, current), form),
    )


def _unknown(found: Found, meant: list[Known], publications: Publications) -> VerifiedCitation:
    """A citation of a story that the wire has not, or that may be of several; `meant`: those that say the same."""
    named = found.other_id or found.story_id
    problems: list[str] = []
    if found.story_id is None and found.other_id is not None:
        problems.append(f"{named!r} is no id of this wire: those are cbn- and twelve characters.")
    elif named is not None:
        problems.append(f"The wire has no story {named}.")
    elif meant:
        listed = ", ".join(known.story.chatbotnews_id for known in meant[:5])
        problems.append(f"It names no id, and several stories say this: {listed}.")
    else:
        problems.append("It names no id, and no story of the wire says this.")
    if found.publisher and (outside := publications.outside(found.publisher)):
        problems.append(outside)
    correct = None
    if len(meant) == 1 and meant[0].story.status != Status.WITHDRAWN:
        correct = cite(citable(meant[0].story, meant[0].current), found.format or CitationFormat.LAYERED)
        problems.append(f"{meant[0].story.chatbotnews_id} says this; see `correct`.")
    return VerifiedCitation(
        text=found.text[:2_000],
        format=str(found.format or "mention"),
        verdict="unknown",
        problems=problems,
        checks=[],
        quotations=[],
        story_id=None,
        permalink=None,
        status=None,
        revision=None,
        cited_revision=None,
        story_sha256=None,
        correct=correct,
    )
