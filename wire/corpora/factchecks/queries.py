"""The questions that fact-checks answer. REST, MCP and pages call these functions and nothing else; they return schemas."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, Literal

from django.conf import settings
from django.db.models import Count, Min, Q

from config.errors import InvalidArgument, NotFound
from wire.corpora.common.cursors import ListCursor
from wire.corpora.factchecks import api_keys, query_embedding, schemas, serializers
from wire.corpora.factchecks import search as searching
from wire.corpora.factchecks.index_terms import replace_nul
from wire.corpora.factchecks.models import Claim, ClaimCategory, ClaimVector, FactcheckState, RatingName, StoryLink
from wire.corpora.factchecks.ratings import Rating, make_label_key
from wire.corpora.factchecks.search import Filters
from wire.search.cursor import build_cursor_error
from wire.text.identity import is_story_id

REVISIONS: Final = 20  # earlier versions of one answer
LINKED: Final = 5  # fact-checks of a story, at most
UNDATED: Final = -(2**62)  # stands in a cursor for the time of a claim without a date
ELSEWHERE: Final = "search_factchecks finds ids; list_categories names the categories."

Half = Literal["words", "meaning"]


def search_claims(
    query: str,
    limit: int = 5,
    categories: Sequence[str] | None = None,
    rating_label: str | None = None,
    language: str | None = None,
    status: str | None = None,
    published_since: dt.datetime | None = None,
    cursor: str | None = None,
    halves: Sequence[Half] = ("words", "meaning"),
) -> schemas.FoundClaimsOut:
    """Return fact-checks, best first. `language` is the question's, for its word forms; None: detected. Raises: InvalidArgument."""
    question, state = searching.parse_question(query, language)
    if not question.terms:
        raise InvalidArgument("query has no words.", "Give the claim in words, as somebody would say it.")
    filters = Filters(
        statuses=[status] if status is not None else settings.FACTCHECKS_STATUSES,
        categories=list(categories) if categories else None,
        labels=_find_labels(rating_label) if rating_label else None,
        since=int(published_since.timestamp() * 1000) if published_since else None,
    )
    vector = query_embedding.start_embedding(question.text, state) if "meaning" in halves else None
    by_words = searching.score_by_words(question, state, filters, none="words" not in halves)  # while the vector is made
    meant, degraded = vector() if vector else (None, False)
    result = searching.rank_claims(by_words, meant)
    degraded = degraded or (meant is not None and result.vectors < 1 and bool(by_words.allowed.any()))
    cursors = ListCursor("claims found", query, categories, rating_label, language, status, str(published_since), sorted(halves))
    behind = result.hits
    if cursor is not None:
        rank, tie, number = cursors.decode_position(cursor, 3)
        behind = [hit for hit in behind if (-hit.rank, hit.tie, hit.number) > (-rank, tie, number)]
    page = behind[:limit]
    claims = Claim.objects.in_bulk([hit.number for hit in page], field_name="number")
    names = read_rating_meanings()
    shown = [(hit.number, claim) for hit in page if (claim := claims.get(hit.number)) is not None and claim.is_live]
    return schemas.FoundClaimsOut(
        query=query,
        language=question.language,
        language_detected=question.is_detected,
        total=len(result.hits),
        claims=[
            serializers.to_hit(claim, names, round(float(result.words[number]), 4), result.meaning.get(number), question)
            for number, claim in shown
        ],
        next_cursor=cursors.encode_position(*page[-1]) if len(behind) > limit and page else None,
        degraded=["vectors"] if degraded else [],
        vectors=round(result.vectors, 4),
    )


def _find_labels(given: str) -> list[str]:
    """Return labels that are spelled so, else those that mean one of the scale's ratings: `mostly_false`, `mostly false`."""
    given = replace_nul(given)
    rating = make_label_key(given).replace(" ", "_")
    if rating not in Rating.values or searching.has_claims_with("rating", given):
        return [given]
    return [given, *RatingName.objects.filter(rating=rating).values_list("label", flat=True)]


def get_claim(given: str) -> schemas.ClaimOut:
    """Return a fact-check by its id or short id, also a withdrawn or superseded one, which says so. Raises: NotFound."""
    return serializers.to_claim(_find_claim(given), read_rating_meanings())


def list_revisions(given: str, before: int | None = None) -> schemas.ClaimRevisionsOut:
    """Return earlier versions of a fact-check, the newest first. Raises: NotFound."""
    claim = _find_claim(given)
    rows = claim.revisions.order_by("-revision")
    found = list((rows.filter(revision__lt=before) if before is not None else rows)[: REVISIONS + 1])
    more, found = found[REVISIONS:], found[:REVISIONS]
    public = [one for one in found if one.is_public]
    following = rows.filter(revision__gte=before).last() if before is not None else None
    newer = following.fields["rating_label"] if following is not None else claim.rating_label
    labels = [newer, *(one.fields["rating_label"] for one in public)]
    names = read_rating_meanings()
    changes = [
        schemas.RatingChangeOut(
            changed_at=one.until,
            from_label=label or None,
            from_rating=serializers.get_rating(label, names),
            to_label=after or None,
            to_rating=serializers.get_rating(after, names),
        )
        for one, label, after in zip(public, labels[1:], labels, strict=False)
        if label != after
    ]
    return schemas.ClaimRevisionsOut(
        id=claim.external_id,
        revision=claim.revisions.count() + 1,
        earlier=[serializers.to_earlier_version(one, names) for one in public],
        rating_changes=changes,
        next_before=found[-1].revision if more else None,
    )


def _find_claim(given: str) -> Claim:
    given = given.strip()
    found = Claim.objects.public().with_name(given).first() if given and "\x00" not in given else None
    if found is None:
        raise NotFound(f"Fact-check not found: {given[:200]}", ELSEWHERE)
    return found


def list_claims(
    limit: int = 20,
    rating_label: str | None = None,
    category: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
) -> schemas.ClaimsOut:
    """Return a page of all, newest first. Raises: InvalidArgument for a strange cursor."""
    rows = Claim.objects.live()
    if rating_label:
        rows = rows.filter(rating_key__in=map(make_label_key, _find_labels(rating_label)))
    if status:
        rows = rows.filter(status=replace_nul(status))
    if category:
        rows = rows.filter(pk__in=ClaimCategory.objects.filter(name=replace_nul(category)).values("claim"))
    total = rows.count() if rating_label or category or status else FactcheckState.objects.get(pk=1).found
    cursors = ListCursor("claims", rating_label, category, status)
    if cursor is not None:
        rows = rows.filter(_select_after(*cursors.decode_position(cursor, 2)))
    found = list(rows.newest_first()[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    moment = int(last.published_at.timestamp() * 1000) if last and last.published_at else UNDATED
    names = read_rating_meanings()
    return schemas.ClaimsOut(
        claims=[schemas.ListedClaimOut(**serializers.list_fields(claim, names)) for claim in found[:limit]],
        total=total,
        next_cursor=cursors.encode_position(moment, last.number) if last else None,
    )


def _select_after(moment: int, number: int) -> Q:
    """Select the claims behind one in the order of lists."""
    if moment == UNDATED:
        return Q(published_at=None, number__gt=number)
    try:
        when = dt.datetime.fromtimestamp(moment / 1000, dt.UTC)
    except (ValueError, OverflowError, OSError):
        raise build_cursor_error() from None
    return Q(published_at__lt=when) | Q(published_at=when, number__gt=number) | Q(published_at=None)


def list_categories() -> schemas.ClaimCategoriesOut:
    # Among equals the one that came first: by name, German and English names of the same categories would not agree.
    counted = ClaimCategory.objects.values_list("name").annotate(count=Count("pk"), first=Min("pk")).order_by("-count", "first")
    return schemas.ClaimCategoriesOut(
        categories=[schemas.ClaimCategoryOut(category=name, count=count) for name, count, _ in counted]
    )


def list_rating_labels() -> schemas.RatingLabelsOut:
    rows = Claim.objects.live().exclude(rating_label="").values_list("rating_label").annotate(count=Count("pk"))
    names = read_rating_meanings()
    return schemas.RatingLabelsOut(
        rating_labels=[
            schemas.RatingLabelOut(rating_label=label, rating=serializers.get_rating(label, names) or Rating.UNKNOWN, count=count)
            for label, count in rows.order_by("-count", "rating_label")
        ]
    )


def get_stats() -> schemas.FactcheckStatsOut:
    state, live = FactcheckState.objects.get(pk=1), Claim.objects.live()
    names = read_rating_meanings()
    newest = live.exclude(published_at=None).newest_first().first()
    ratings = Counter[str]()
    for label, count in live.values_list("rating_label").annotate(count=Count("pk")):
        ratings[str(serializers.get_rating(label, names) or "none")] += count
    return schemas.FactcheckStatsOut(
        claims=state.found,
        withdrawn=Claim.objects.public().exclude(withdrawn_at=None).count(),
        by_language={code or "unknown": count for code, count in live.values_list("language").annotate(count=Count("pk"))},
        by_rating=dict(ratings),
        newest=newest.published_at if newest else None,
        vectors=ClaimVector.objects.filter(model=state.model, part=0).count() if state.model else 0,
        model=state.model or None,
        store=query_embedding.describe_store(),
    )


def get_claims_of_story(story_id: str) -> schemas.ClaimsOfStoryOut:
    """Return the fact-checks of claims that a story of the wire is about; none for a story that there is not."""
    if not is_story_id(story_id):
        raise NotFound(f"There is no story {story_id[:100]}.", "search_wire finds ids.")
    return schemas.ClaimsOfStoryOut(chatbotnews_id=story_id, factchecks=list_linked_claims(story_id))


def list_linked_claims(story_id: str) -> list[schemas.LinkedClaimOut]:
    """Return the fact-checks that are linked with a story; an editor's links first."""
    rows = StoryLink.objects.filter(story__chatbotnews_id=story_id).exclude(kind=StoryLink.Origin.CUT)
    rows = rows.filter(claim__in=Claim.objects.live()).select_related("claim").order_by("-kind", "-similarity", "claim__number")
    links = list(rows[:LINKED])
    names = read_rating_meanings() if links else {}
    return [
        schemas.LinkedClaimOut(
            **serializers.list_fields(link.claim, names),
            similarity=round(link.similarity, 2),
            pinned=link.kind == StoryLink.Origin.PINNED,
        )
        for link in links
    ]


def list_open_story_links(story_id: str) -> list[dict[str, Any]]:
    """Return the same as JSON, for the story's own answer, which anybody may read: nothing where fact-checks take a key."""
    found = list_linked_claims(story_id)
    return [one.model_dump(mode="json") for one in found] if found and not api_keys.read_key_rule("api").is_required else []


def read_rating_meanings() -> dict[str, str]:
    """Return what labels mean, by key; one that is not among them is unknown."""
    return dict(RatingName.objects.exclude(rating=Rating.UNKNOWN).values_list("key", "rating"))
