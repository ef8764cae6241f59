"""Verification: every citation of the wire in a text, found and compared with the record."""

from collections.abc import Sequence
from typing import Any, Final

from citations.find.citation_match import CitationMatch
from citations.find.finder import find_citations
from citations.find.footnotes import find_noted_claims
from citations.find.segments import strip_markup
from citations.format.formats import CitationFormat, cite_story
from wire.models import Story
from wire.publishing.story_json import get_permalink, to_citable
from wire.queries.stories import resolve_merged_story
from wire.queries.verification.citation_checks import check_citation
from wire.queries.verification.paraphrase_checks import check_own_words
from wire.queries.verification.record import Publications, StoryRecord
from wire.queries.verification.resolve import replace_article_urls, resolve_citations
from wire.schemas.proofs import VerifiedCitation, VerifiedOut
from wire.text.choices import Status
from wire.text.identity import is_story_id

MOST: Final = 100  # citations of one text
MAX_TEXT: Final = 20_000  # characters
NONE_FOUND: Final = (
    "No citation of this wire was found. A citation has an id (cbn-…), a permalink, or 'as summarized by ChatbotNews.ai' or "
    "'ChatbotNews.ai, citing …'."
)
NOT_JUDGED: Final = "This compares citations with the wire's record and does not judge whether the publisher's report is true."


def verify_citation(text: str) -> VerifiedOut:
    """Check every citation of the wire in `text`, in any of its formats or as an id or permalink.

    Raises nothing for any text; at most MOST citations are answered.
    """
    is_cut, text = len(text) > MAX_TEXT, replace_article_urls(text[:MAX_TEXT])
    citations, left = _verify_text(text)
    plain = strip_markup(text)
    if plain != text:  # HTML or LaTeX, unless a headline is about tags: then the wire's own strings stand in it as it is
        as_plain, left_of_plain = _verify_text(plain)
        exact, plain_exact = (
            sum(check.field == "citation" for one in some for check in one.checks) for some in (citations, as_plain)
        )
        if plain_exact >= exact:
            citations, left = as_plain, left_of_plain
    notes = [NOT_JUDGED if citations else NONE_FOUND]
    if left:
        notes.insert(0, f"{left} more citations were found but not checked: send the rest separately.")
    elif is_cut:
        notes.insert(0, f"Only the first {MAX_TEXT:,} characters were read: send the rest separately.")
    verified = sum(one.verdict == "verified" for one in citations)
    return VerifiedOut(citations=citations, found=len(citations), verified=verified, notes=" ".join(notes))


def _verify_text(text: str) -> tuple[list[VerifiedCitation], int]:
    """Return the first MOST citations of a text, and how many there are beyond them."""
    everything, notes = find_citations(text), find_noted_claims(text)
    found = everything[:MOST]
    ids = {one.story_id for one in found if one.story_id is not None and is_story_id(one.story_id)}
    rows = Story.objects.published().filter(chatbotnews_id__in=list(ids)).with_text().prefetch_related("revisions", "aliases")
    stories = {story.chatbotnews_id: StoryRecord(story) for story in rows}
    publications = Publications()
    strays = [one for one in found if one.story_id not in stories]
    similar = dict(zip(map(id, strays), resolve_citations(strays, publications) if strays else [], strict=True))
    verified = [
        _verify(one, stories.get(one.story_id or ""), similar.get(id(one), []), publications, notes.get(one.story_id or "", ()))
        for one in found
    ]
    return verified, len(everything) - len(found)


def _verify(
    found: CitationMatch,
    named: StoryRecord | None,
    similar: list[StoryRecord],
    publications: Publications,
    claims: Sequence[str],
) -> VerifiedCitation:
    """`named`: the story that it names; `similar`: where there is none, those that say the same; `claims`: what the text says with
    a number that leads to it.
    """
    if named is None and (len(similar) != 1 or found.story_id is not None):
        return _answer_unknown(found, similar, publications)
    known = named or similar[0]
    result = check_citation(found, known, publications)
    for claim in claims:
        check_own_words(claim, known, result, is_note=True)
    story, current, standing = known.story, known.current, resolve_merged_story(known.story)
    is_withdrawn = story.status == Status.WITHDRAWN
    is_earlier = result.revision is not None and result.revision < current.revision
    problems = list(result.problems)
    if standing.pk != story.pk:
        problems.append(f"The story was merged into {standing.chatbotnews_id}, the same article: cite that one.")
    elif is_withdrawn:
        problems.append("The story was withdrawn and must not be cited.")
    elif is_earlier:
        problems.append(f"It cites revision {result.revision}; revision {current.revision} is current ({story.status}).")
    if result.is_wrong:
        verdict = "wrong"
    elif result.is_reworded:
        verdict = "reworded"
    else:
        verdict = "outdated" if is_withdrawn or is_earlier else "verified"
    return _build_answer(
        found,
        verdict,
        problems,
        correct=_render_citation(standing, found.format),
        checks=result.checks,
        quotations=result.quotations,
        story_id=story.chatbotnews_id,
        permalink=get_permalink(story.chatbotnews_id),
        status=story.status,
        support=None if verdict != "reworded" else "unsupported" if result.is_unsupported else "supported",
        revision=current.revision,
        cited_revision=result.revision,
        story_sha256=current.story_sha256,
    )


def _answer_unknown(found: CitationMatch, similar: list[StoryRecord], publications: Publications) -> VerifiedCitation:
    """Answer a citation of a story that the wire has not, or that may be of several; `similar`: those that say the same."""
    named = found.other_id or found.story_id
    if found.story_id is None and found.other_id is not None:
        problems = [f"{named!r} is not an id of this wire: ids are cbn- and twelve characters."]
    elif named is not None:
        problems = [f"The wire has no story {named}."]
    elif similar:
        listed = ", ".join(known.story.chatbotnews_id for known in similar[:5])
        problems = [f"It names no id, and several stories match: {listed}."]
    else:
        problems = ["It names no id, and no story of the wire says this."]
    if found.publisher and (outsider := publications.describe_outsider(found.publisher)):
        problems.append(outsider)
    correct = _render_citation(similar[0].story, found.format) if len(similar) == 1 else None
    if correct:
        problems.append(f"{similar[0].story.chatbotnews_id} says this; see `correct`.")
    nothing = dict.fromkeys(("story_id", "support", "permalink", "status", "revision", "cited_revision", "story_sha256"))
    return _build_answer(found, "unknown", problems, correct=correct, checks=[], quotations=[], **nothing)


def _build_answer(found: CitationMatch, verdict: str, problems: list[str], **fields: Any) -> VerifiedCitation:
    form = str(found.format or "mention")
    return VerifiedCitation(text=found.text[:2_000], format=form, verdict=verdict, problems=problems, **fields)  # type: ignore[arg-type]


def _render_citation(story: Story, form: CitationFormat | None) -> str | None:
    if story.current is None or story.status == Status.WITHDRAWN:
        return None
    return cite_story(to_citable(story, story.current), form or CitationFormat.LAYERED)
