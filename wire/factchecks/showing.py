"""A stored claim as it is answered: fields, citations, and the part of it that is quoted."""

from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from citations.factcheck import Checked, cite, csl, ris
from wire.factchecks.chunks import Chunk, published
from wire.factchecks.languages import STOP_WORDS, stem
from wire.factchecks.models import Claim, StoryLink
from wire.factchecks.question import Question
from wire.factchecks.ratings import Rating, key_of
from wire.factchecks.rendering import excerpt_of
from wire.factchecks.schemas import ClaimOut, EvidenceOut, ExcerptOut, FactOut, FoundClaimOut, LinkedStoryOut, ListedClaimOut
from wire.stories.text import addresses_model
from wire.stories.tokens import words

MOST_STORIES: Final = 20


def rating(label: str, names: dict[str, str]) -> Rating | None:
    """A label on the one scale; None without one."""
    return Rating(names.get(key_of(label), Rating.UNKNOWN)) if label else None


def permalink(claim: Claim) -> str:
    """Its page. Slashes of a short id stay: they are part of the path."""
    return f"{settings.WIRE_SITE_URL}/factcheck/{quote(claim.id_shown)}"


def status(claim: Claim) -> str:
    return "withdrawn" if claim.withdrawn_at else "superseded" if claim.superseded_by else claim.status


def checked(claim: Claim) -> Checked:
    return Checked(
        claim.external_id,
        claim.title,
        claim.rating_label or None,
        claim.publisher or None,
        claim.publishing_url or permalink(claim),
        permalink(claim),
        claim.published_at.date() if claim.published_at else None,
    )


def hit(claim: Claim, names: dict[str, str], by_words: float, similarity: float | None, part: Chunk) -> FoundClaimOut:
    excerpt = ExcerptOut(fact_index=part.fact_index, text=excerpt_of(part.content)) if part.kind == "fact_detail" else None
    told = listed(claim, names).dict()
    return FoundClaimOut(
        **told,
        summary=claim.rating_summary or None,
        publisher=claim.publisher or None,
        citation=cite(checked(claim)),
        excerpt=excerpt,
        words=by_words,
        similarity=similarity,
        untrusted_instructions=addresses_model(f"{claim.synopsis}\n{claim.rating_summary}\n{excerpt.text if excerpt else ''}"),
    )


def listed(claim: Claim, names: dict[str, str]) -> ListedClaimOut:
    return ListedClaimOut(
        id=claim.external_id,
        short_id=claim.short_id or None,
        synopsis=claim.synopsis or None,
        rating_label=claim.rating_label or None,
        rating=rating(claim.rating_label, names),
        url=claim.publishing_url or None,
        categories=[one["name"] for one in claim.categories],
        published_at=claim.published_at,
        language=claim.language or None,
        status=status(claim),
        permalink=permalink(claim),
    )


def whole(claim: Claim, names: dict[str, str]) -> ClaimOut:
    as_cited = checked(claim)
    facts = [_fact(fact) for fact in published(claim.facts)]
    texts = [claim.synopsis, claim.rating_summary, claim.rating_statement, *(fact.text for fact in facts)]
    return ClaimOut(
        **listed(claim, names).dict(),
        summary=claim.rating_summary or None,
        statement=claim.rating_statement or None,
        publisher=claim.publisher or None,
        claimant=claim.claimant or None,
        facts=facts,
        origins=[one["url"] for one in claim.origins if isinstance(one.get("url"), str) and one["url"].startswith("http")],
        withdrawn_at=claim.withdrawn_at,
        withdrawn_reason=claim.withdrawn_reason or None,
        superseded_by=claim.superseded_by or None,
        citations={} if claim.withdrawn_at else {"layered": cite(as_cited), "csl": csl(as_cited), "ris": ris(as_cited)},
        content_sha256=claim.content_sha256,
        stories=stories_of(claim),
        untrusted_instructions=addresses_model("\n".join(texts)),
    )


def stories_of(claim: Claim) -> list[LinkedStoryOut]:
    """Live stories that are about the claim; an editor's links first."""
    rows = StoryLink.objects.filter(claim=claim).exclude(kind=StoryLink.Kind.CUT).exclude(story__status="withdrawn")
    rows = rows.exclude(story__current=None).order_by("-kind", "-similarity", "-story__published_at")
    told = rows.values_list("story__chatbotnews_id", "story__current__headline", "similarity", "kind")[:MOST_STORIES]
    return [
        LinkedStoryOut(
            chatbotnews_id=story_id,
            headline=headline,
            permalink=f"{settings.WIRE_SITE_URL}/story/{story_id}",
            similarity=round(similarity, 2),
            pinned=kind == StoryLink.Kind.PINNED,
        )
        for story_id, headline, similarity, kind in told
    ]


def best_part(claim: Claim, asked: Question) -> Chunk:
    """The part that holds most of the question. Among equals a fact before the overview, which is shown in any case."""
    wanted = {token: worth for term in asked.terms for token, worth in term.tokens.items()}
    stop = STOP_WORDS.get(claim.language, frozenset())

    def held(chunk: Chunk) -> float:
        told = {stem(word, claim.language) for word in words(chunk.plain) if word not in stop}
        return sum(max((worth for token, worth in term.tokens.items() if token in told), default=0.0) for term in asked.terms)

    overview, *facts = claim.chunks()
    best, most = overview, held(overview)
    for chunk in facts if wanted else ():
        if (score := held(chunk)) >= most and score > 0 and (score > most or best is overview):
            best, most = chunk, score
    return best


def _fact(fact: Any) -> FactOut:
    sources = [
        EvidenceOut(excerpt=one.get("excerpt") or None, url=one.get("url") or None, archive_url=one.get("archiveUrl") or None)
        for one in published(fact.get("sources") or ())
    ]
    return FactOut(index=int(fact.get("index") or 0), text=str(fact.get("text") or ""), sources=sources)
