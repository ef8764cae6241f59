"""Turns a stored claim into what is answered: fields, citations, and the part of it that is quoted."""

from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from citations.format.factcheck import CitableFactCheck, cite, csl, ris
from wire.corpora.factchecks.chunks import Chunk, published_only
from wire.corpora.factchecks.languages import content_stems
from wire.corpora.factchecks.models import Claim, ClaimRevision, StoryLink
from wire.corpora.factchecks.query_terms import Question
from wire.corpora.factchecks.ratings import Rating, key_of
from wire.corpora.factchecks.rendering import excerpt_of
from wire.corpora.factchecks.schemas import (
    ClaimOut,
    EarlierClaimOut,
    EvidenceOut,
    ExcerptOut,
    FactOut,
    FoundClaimOut,
    LinkedStoryOut,
    ListedClaimOut,
)
from wire.text.plain_text import addresses_model

MOST_STORIES: Final = 20


def rating(label: str, names: dict[str, str]) -> Rating | None:
    return Rating(names.get(key_of(label), Rating.UNKNOWN)) if label else None


def permalink(claim: Claim) -> str:
    """Return the address of its page. Slashes of a short id stay: they are part of the path."""
    return f"{settings.WIRE_SITE_URL}/factcheck/{quote(claim.id_shown)}"


def status(claim: Claim) -> str:
    return "withdrawn" if claim.withdrawn_at else "superseded" if claim.superseded_by else claim.status


def _to_citable(claim: Claim) -> CitableFactCheck:
    return CitableFactCheck(
        claim.external_id,
        claim.title,
        claim.rating_label or None,
        claim.publisher or None,
        claim.publishing_url or permalink(claim),
        permalink(claim),
        claim.published_at.date() if claim.published_at else None,
    )


def to_hit(claim: Claim, names: dict[str, str], by_words: float, similarity: float | None, part: Chunk) -> FoundClaimOut:
    excerpt = ExcerptOut(fact_index=part.fact_index, text=excerpt_of(part.content)) if part.kind == "fact_detail" else None
    return FoundClaimOut(
        **to_list_item(claim, names).dict(),
        summary=claim.rating_summary or None,
        publisher=claim.publisher or None,
        citation=cite(_to_citable(claim)),
        excerpt=excerpt,
        words=by_words,
        similarity=similarity,
        untrusted_instructions=addresses_model(f"{claim.synopsis}\n{claim.rating_summary}\n{excerpt.text if excerpt else ''}"),
    )


def to_list_item(claim: Claim, names: dict[str, str]) -> ListedClaimOut:
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


def to_claim(claim: Claim, names: dict[str, str]) -> ClaimOut:
    as_cited = _to_citable(claim)
    facts = [_to_fact(fact) for fact in published_only(claim.facts)]
    texts = [claim.synopsis, claim.rating_summary, claim.rating_statement, *(fact.text for fact in facts)]
    return ClaimOut(
        **to_list_item(claim, names).dict(),
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
        revision=claim.revisions.count() + 1,
        stories=_list_stories(claim),
        untrusted_instructions=addresses_model("\n".join(texts)),
    )


def to_earlier(revision: ClaimRevision, names: dict[str, str]) -> EarlierClaimOut:
    fields, label = revision.fields, revision.fields["rating_label"]
    texts = {name: fields[name] or None for name in ("synopsis", "publisher", "claimant", "language", "published_at")}
    return EarlierClaimOut(
        revision=revision.revision,
        since=revision.since,
        until=revision.until,
        rating_label=label or None,
        rating=rating(label, names),
        summary=fields["rating_summary"] or None,
        statement=fields["rating_statement"] or None,
        url=fields["publishing_url"] or None,
        categories=[one["name"] for one in fields["categories"]],
        facts=[_to_fact(fact) for fact in published_only(fields["facts"])],
        content_sha256=revision.content_sha256,
        **texts,
    )


def _list_stories(claim: Claim) -> list[LinkedStoryOut]:
    rows = StoryLink.objects.filter(claim=claim).exclude(kind=StoryLink.Origin.CUT).exclude(story__status="withdrawn")
    rows = rows.exclude(story__current=None).order_by("-kind", "-similarity", "-story__published_at")
    columns = ("story__chatbotnews_id", "story__current__headline", "similarity", "kind")
    return [
        LinkedStoryOut(
            chatbotnews_id=story_id,
            headline=headline,
            permalink=f"{settings.WIRE_SITE_URL}/story/{story_id}",
            similarity=round(similarity, 2),
            pinned=kind == StoryLink.Origin.PINNED,
        )
        for story_id, headline, similarity, kind in rows.values_list(*columns)[:MOST_STORIES]
    ]


def best_part(claim: Claim, question: Question) -> Chunk:
    """Return the part that holds most of the question. Among equals a fact before the overview, which is shown in any case."""

    def score(chunk: Chunk) -> float:
        stems = content_stems(chunk.plain, claim.language)
        return sum(max((worth for token, worth in term.tokens.items() if token in stems), default=0.0) for term in question.terms)

    overview, *facts = claim.chunks()
    best = max(facts, key=score, default=overview)
    return best if score(best) >= max(score(overview), 1e-9) else overview


def _to_fact(fact: Any) -> FactOut:
    sources = [
        EvidenceOut(excerpt=one.get("excerpt") or None, url=one.get("url") or None, archive_url=one.get("archiveUrl") or None)
        for one in published_only(fact.get("sources") or ())
    ]
    return FactOut(index=int(fact.get("index") or 0), text=str(fact.get("text") or ""), sources=sources)
