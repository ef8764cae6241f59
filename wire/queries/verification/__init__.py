"""Whether what a text says of the wire is so: every citation in it, found and held against the record."""

from collections.abc import Iterable
from typing import Final

from citations.finding import Found, find_citations
from citations.formats import CitationFormat, cite
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
    citations = _citations(text[:MAX_TEXT])
    plain = unmarked(text[:MAX_TEXT])
    if plain != text[:MAX_TEXT]:  # perhaps HTML, perhaps a headline about tags: what fits the record better was meant
        citations = max(citations, _citations(plain), key=_fit)
    return VerifiedOut(
        citations=citations,
        found=len(citations),
        verified=sum(one.verdict == "verified" for one in citations),
        notes=NOT_JUDGED if citations else NONE_FOUND,
    )


def _fit(citations: list[VerifiedCitation]) -> tuple[int, int]:
    verdicts = [one.verdict for one in citations]
    return verdicts.count("verified") + verdicts.count("outdated"), -verdicts.count("wrong") - verdicts.count("unknown")


def _citations(text: str) -> list[VerifiedCitation]:
    found = find_citations(text)[:MOST]
    stories = _stories({one.story_id for one in found if one.story_id is not None and is_story_id(one.story_id)})
    publications = Publications()
    strays = [one for one in found if one.story_id not in stories]
    meant = dict(zip(map(id, strays), resolve(strays, publications) if strays else [], strict=True))
    return [_verified(one, stories.get(one.story_id or ""), meant.get(id(one)), publications) for one in found]


def _stories(ids: Iterable[str]) -> dict[str, Known]:
    rows = Story.objects.published().filter(chatbotnews_id__in=list(ids)).with_text().prefetch_related("revisions", "aliases")
    return {story.chatbotnews_id: Known(story) for story in rows}


def _verified(found: Found, known: Known | None, meant: Known | None, publications: Publications) -> VerifiedCitation:
    """`known`: the story that it names; `meant`: where there is none, the one that says the same."""
    if known is None and (meant is None or found.story_id is not None):
        return _unknown(found, meant, publications)
    story = known or meant
    assert story is not None  # noqa: S101
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


def _unknown(found: Found, meant: Known | None, publications: Publications) -> VerifiedCitation:
    """A citation of a story that the wire has not; `meant`: one that says the same, if there is one."""
    named = found.other_id or found.story_id
    problems: list[str] = []
    if found.story_id is None and found.other_id is not None:
        problems.append(f"{named!r} is no id of this wire: those are cbn- and twelve characters.")
    elif named is not None:
        problems.append(f"The wire has no story {named}.")
    else:
        problems.append("It names no id, and no story of the wire says this.")
    if found.publisher and (outside := publications.outside(found.publisher)):
        problems.append(outside)
    correct = None
    if meant is not None and meant.story.status != Status.WITHDRAWN:
        correct = cite(citable(meant.story, meant.current), found.format or CitationFormat.LAYERED)
        problems.append(f"{meant.story.chatbotnews_id} says this; see `correct`.")
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
