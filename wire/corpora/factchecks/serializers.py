"""Turns a stored claim into what is answered: fields, citations, and the part of it that is quoted."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings

from citations.format.corpus_citations import CitableFactCheck, cite_claim, to_csl, to_ris
from wire.corpora.factchecks import schemas
from wire.corpora.factchecks.chunks import Chunk, filter_published, split_claim
from wire.corpora.factchecks.languages import list_content_stems
from wire.corpora.factchecks.models import Claim, ClaimRevision, StoryLink
from wire.corpora.factchecks.query_terms import Question
from wire.corpora.factchecks.ratings import Rating, make_label_key
from wire.corpora.factchecks.rendering import cut_excerpt
from wire.schemas import build_from
from wire.text.plain_text import addresses_model


def get_rating(label: str, names: dict[str, str]) -> Rating | None:
    return Rating(names.get(make_label_key(label), Rating.UNKNOWN)) if label else None


def build_permalink(claim: Claim) -> str:
    """Return the address of its page. Slashes of a short id stay: they are part of the path."""
    return f"{settings.WIRE_SITE_URL}/factcheck/{quote(claim.id_shown)}"


def _to_citable(claim: Claim) -> CitableFactCheck:
    return CitableFactCheck(
        claim.external_id,
        claim.title,
        claim.rating_label or None,
        claim.publisher or None,
        claim.publishing_url or build_permalink(claim),
        build_permalink(claim),
        claim.published_at.date() if claim.published_at else None,
    )


# Columns of a claim, and of its earlier versions, that answers have; empty ones are null.
_COLUMNS: Final = ("synopsis", "rating_label", "publisher", "claimant", "published_at", "language")
_RENAMED: Final = {"summary": "rating_summary", "statement": "rating_statement", "url": "publishing_url"}


def _list_common_fields(columns: Mapping[str, Any], names: dict[str, str]) -> dict[str, Any]:
    fields = {name: columns[_RENAMED.get(name, name)] or None for name in (*_COLUMNS, *_RENAMED)}
    categories = [one["name"] for one in columns["categories"]]
    return fields | {"rating": get_rating(columns["rating_label"], names), "categories": categories}


def list_fields(claim: Claim, names: dict[str, str]) -> dict[str, Any]:
    return _list_common_fields(vars(claim), names) | {
        "id": claim.external_id,
        "short_id": claim.short_id or None,
        "status": "withdrawn" if claim.withdrawn_at else "superseded" if claim.superseded_by else claim.status,
        "permalink": build_permalink(claim),
    }


def to_hit(
    claim: Claim, names: dict[str, str], by_words: float, similarity: float | None, question: Question
) -> schemas.FoundClaimOut:
    part = find_best_chunk(claim, question)
    excerpt = schemas.ExcerptOut(fact_index=part.fact_index, text=cut_excerpt(part.content)) if part.kind == "fact_detail" else None
    return schemas.FoundClaimOut(
        **list_fields(claim, names),
        citation=cite_claim(_to_citable(claim)),
        excerpt=excerpt,
        words=by_words,
        similarity=similarity,
        untrusted_instructions=addresses_model(f"{claim.synopsis}\n{claim.rating_summary}\n{excerpt.text if excerpt else ''}"),
    )


def to_claim(claim: Claim, names: dict[str, str]) -> schemas.ClaimOut:
    as_cited, facts = _to_citable(claim), _to_facts(claim.facts)
    texts = [claim.synopsis, claim.rating_summary, claim.rating_statement, *(fact.text for fact in facts)]
    return schemas.ClaimOut(
        **list_fields(claim, names),
        facts=facts,
        origins=[one["url"] for one in claim.origins if isinstance(one.get("url"), str) and one["url"].startswith("http")],
        withdrawn_at=claim.withdrawn_at,
        withdrawn_reason=claim.withdrawn_reason or None,
        superseded_by=claim.superseded_by or None,
        citations={} if claim.withdrawn_at else {"layered": cite_claim(as_cited), "csl": to_csl(as_cited), "ris": to_ris(as_cited)},
        content_sha256=claim.content_sha256,
        revision=claim.revisions.count() + 1,
        stories=_list_stories(claim),
        untrusted_instructions=addresses_model("\n".join(texts)),
    )


def to_earlier_version(revision: ClaimRevision, names: dict[str, str]) -> schemas.EarlierClaimOut:
    facts = _to_facts(revision.fields["facts"])
    return build_from(schemas.EarlierClaimOut, revision, **_list_common_fields(revision.fields, names), facts=facts)


def _list_stories(claim: Claim) -> list[schemas.LinkedStoryOut]:
    rows = StoryLink.objects.filter(claim=claim).exclude(kind=StoryLink.Origin.CUT).exclude(story__status="withdrawn")
    rows = rows.exclude(story__current=None).order_by("-kind", "-similarity", "-story__published_at")
    columns = ("story__chatbotnews_id", "story__current__headline", "similarity", "kind")
    return [
        schemas.LinkedStoryOut(
            chatbotnews_id=story_id,
            headline=headline,
            permalink=f"{settings.WIRE_SITE_URL}/story/{story_id}",
            similarity=round(similarity, 2),
            pinned=kind == StoryLink.Origin.PINNED,
        )
        for story_id, headline, similarity, kind in rows.values_list(*columns)[:20]
    ]


def find_best_chunk(claim: Claim, question: Question) -> Chunk:
    """Return the part that holds most of the question. Among equals a fact before the overview, which is shown in any case."""

    def score_chunk(chunk: Chunk) -> float:
        stems = list_content_stems(chunk.plain, claim.language)
        return sum(max((worth for token, worth in term.tokens.items() if token in stems), default=0.0) for term in question.terms)

    overview, *facts = split_claim(claim)
    best = max(facts, key=score_chunk, default=overview)
    return best if score_chunk(best) >= max(score_chunk(overview), 1e-9) else overview


def _to_facts(facts: Sequence[Mapping[str, Any]]) -> list[schemas.FactOut]:
    names = {"excerpt": "excerpt", "url": "url", "archive_url": "archiveUrl"}
    return [
        schemas.FactOut(
            index=fact["index"],
            text=fact["text"],
            sources=[
                schemas.EvidenceOut(**{name: source[key] or None for name, key in names.items()})
                for source in filter_published(fact["sources"])
            ],
        )
        for fact in filter_published(facts)
    ]
