"""What is asked of fact-checks. REST, MCP and pages ask these functions and nothing else; they return schemas."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from django.conf import settings
from django.db.models import Count, Min, Q

from config.errors import InvalidArgument, NotFound
from wire.factchecks import keys, meaning, searching, showing
from wire.factchecks.indexing import storable
from wire.factchecks.models import Claim, ClaimCategory, ClaimVector, FactcheckState, RatingName, StoryLink
from wire.factchecks.question import Question
from wire.factchecks.ratings import Rating, key_of
from wire.factchecks.schemas import (
    ClaimCategoriesOut,
    ClaimCategoryOut,
    ClaimOut,
    ClaimsOfStoryOut,
    ClaimsOut,
    FactcheckStatsOut,
    FoundClaimOut,
    FoundClaimsOut,
    LinkedClaimOut,
    RatingLabelOut,
    RatingLabelsOut,
)
from wire.factchecks.searching import Filters, Found, Hit
from wire.search.cursor import decode, encode, invalid
from wire.stories.identity import is_story_id

FOUND: Final = {"claims found": 4}
LISTED: Final = {"claims": 3}
"""Kinds of cursors, and how many values each has."""
LINKED: Final = 5  # fact-checks of a story, at most
ELSEWHERE: Final = "search_factchecks finds ids; list_categories names what there is."

Half = Literal["words", "meaning"]


def search(
    query: str,
    limit: int = 5,
    categories: Sequence[str] | None = None,
    rating_label: str | None = None,
    language: str | None = None,
    status: str | None = None,
    published_since: dt.datetime | None = None,
    cursor: str | None = None,
    halves: Sequence[Half] = ("words", "meaning"),
) -> FoundClaimsOut:
    """Fact-checks that answer a question, best first. `language` is the question's, not the claims': it tells how its words are
    stemmed; without one it is detected. Raises: InvalidArgument for a query without a word and a strange cursor.
    """
    asked, state = searching.understood(query, language)
    if not asked.terms:
        raise InvalidArgument("query holds no word.", "Give the claim in words, as somebody would tell it.")
    filters = _filters(categories, rating_label, status, published_since)
    vector = meaning.asked(asked.text, state) if "meaning" in halves else None
    by_words = searching.by_words(asked, state, filters, none="words" not in halves)  # while the vector is made
    meant, degraded = vector() if vector else (None, False)
    found = searching.found(by_words, meant)
    mark = encode("question", query, categories, rating_label, language, status, str(published_since), sorted(halves))
    behind = _behind(found.hits, cursor, mark)
    page = behind[:limit]
    more = len(behind) > limit
    return FoundClaimsOut(
        query=query,
        language=asked.language,
        language_detected=asked.is_detected,
        total=len(found.hits),
        claims=_shown(page, found, asked),
        next_cursor=encode(*FOUND, _short(mark), *page[-1]) if more and page else None,
        degraded=["vectors"] if degraded else [],
    )


def get_claim(given: str) -> ClaimOut:
    """One fact-check by its id or short id, withdrawn and superseded ones too, which say so. Raises: NotFound."""
    claim = claim_of(given)
    return showing.whole(claim, rating_names([claim]))


def claim_of(given: str) -> Claim:
    """Raises: NotFound."""
    given = given.strip()
    found = Claim.objects.public().called(given).first() if given and "\x00" not in given else None
    if found is None:
        raise NotFound(f"Fact-check not found: {given[:200]}", ELSEWHERE)
    return found


def list_claims(
    limit: int = 20,
    rating_label: str | None = None,
    category: str | None = None,
    status: str | None = None,
    cursor: str | None = None,
) -> ClaimsOut:
    """One page of all, newest first. Raises: InvalidArgument for a strange cursor."""
    rows = listed(rating_label, category, status)
    total = rows.count() if rating_label or category or status else FactcheckState.objects.get(pk=1).found
    mark = _short(encode("list", rating_label, category, status))
    if cursor is not None:
        of, moment, number = decode(cursor, LISTED)[1]
        if of != mark or not _are_whole(moment or 0, number):
            raise invalid()
        rows = rows.filter(_later(moment, number))
    found = list(rows.newest_first()[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    moment = int(last.published_at.timestamp() * 1000) if last is not None and last.published_at else None
    names = rating_names(found)
    return ClaimsOut(
        claims=[showing.listed(claim, names) for claim in found[:limit]],
        total=total,
        next_cursor=encode(*LISTED, mark, moment, last.number) if last else None,
    )


def listed(rating_label: str | None, category: str | None, status: str | None) -> Any:
    """The claims of a list, in no order."""
    rows = Claim.objects.live()
    if rating_label:
        rows = rows.filter(rating_key__in=map(key_of, _labels(rating_label)))
    if status:
        rows = rows.filter(status=storable(status))
    if category:
        rows = rows.filter(pk__in=ClaimCategory.objects.filter(name=storable(category)).values("claim"))
    return rows


def list_categories() -> ClaimCategoriesOut:
    """Every category of fact-checks that are found, the largest first."""
    # Among equals the one that came first: by name, German and English names of the same categories would not agree.
    counted = ClaimCategory.objects.values("name").annotate(count=Count("pk"), first=Min("pk")).order_by("-count", "first")
    return ClaimCategoriesOut(categories=[ClaimCategoryOut(category=row["name"], count=row["count"]) for row in counted])


def list_rating_labels() -> RatingLabelsOut:
    """Every label of fact-checks that are found, the most frequent first."""
    rows = Claim.objects.live().exclude(rating_label="").values("rating_label").annotate(count=Count("pk"))
    names = dict(RatingName.objects.values_list("key", "rating"))
    return RatingLabelsOut(
        rating_labels=[
            RatingLabelOut(
                rating_label=row["rating_label"],
                rating=showing.rating(row["rating_label"], names) or Rating.UNKNOWN,
                count=row["count"],
            )
            for row in rows.order_by("-count", "rating_label")
        ]
    )


def stats() -> FactcheckStatsOut:
    state, live, names = (
        FactcheckState.objects.get(pk=1),
        Claim.objects.live(),
        dict(RatingName.objects.values_list("key", "rating")),
    )
    newest = live.exclude(published_at=None).newest_first().first()
    ratings = Counter[str]()
    for label, count in live.values_list("rating_label").annotate(count=Count("pk")):
        ratings[str(showing.rating(label, names) or "none")] += count
    return FactcheckStatsOut(
        claims=state.found,
        withdrawn=Claim.objects.public().exclude(withdrawn_at=None).count(),
        by_language={code or "unknown": count for code, count in live.values_list("language").annotate(count=Count("pk"))},
        by_rating=dict(ratings),
        newest=newest.published_at if newest else None,
        vectors=ClaimVector.objects.filter(model=state.model, part=0).count() if state.model else 0,
        model=state.model or None,
        store=meaning.store_name(),
    )


def of_story(story_id: str) -> ClaimsOfStoryOut:
    """The fact-checks of claims that a story of the wire is about; none for a story that there is not."""
    if not is_story_id(story_id):
        raise NotFound(f"There is no story {story_id[:100]}.", "search_wire finds ids.")
    return ClaimsOfStoryOut(chatbotnews_id=story_id, factchecks=linked(story_id))


def linked(story_id: str) -> list[LinkedClaimOut]:
    """The same without the story's id; an editor's links first."""
    rows = StoryLink.objects.filter(story__chatbotnews_id=story_id).exclude(kind=StoryLink.Kind.CUT)
    rows = rows.filter(claim__in=Claim.objects.live()).select_related("claim").order_by("-kind", "-similarity", "claim__number")
    found = list(rows[:LINKED])
    names = rating_names(one.claim for one in found)
    return [
        LinkedClaimOut(
            **{
                name: value
                for name, value in showing.listed(one.claim, names).dict().items()
                if name in LinkedClaimOut.model_fields
            },
            similarity=round(one.similarity, 2),
            pinned=one.kind == StoryLink.Kind.PINNED,
        )
        for one in found
    ]


def beside(story_id: str) -> list[dict[str, Any]]:
    """The same as JSON, for the story's own answer, which anybody may read: nothing where fact-checks take a key."""
    found = linked(story_id)
    return [one.model_dump(mode="json") for one in found] if found and not keys.in_force("api") else []


def rating_names(claims: Iterable[Claim]) -> dict[str, str]:
    """What these claims' labels mean, by folded label."""
    keys_of = {claim.rating_key for claim in claims if claim.rating_key}
    return dict(RatingName.objects.filter(key__in=keys_of).values_list("key", "rating")) if keys_of else {}


def _filters(
    categories: Sequence[str] | None, rating_label: str | None, status: str | None, published_since: dt.datetime | None
) -> Filters:
    return Filters(
        statuses=[status] if status is not None else settings.FACTCHECKS_STATUSES,
        categories=list(categories) if categories else None,
        labels=_labels(rating_label) if rating_label else None,
        since=int(published_since.timestamp() * 1000) if published_since else None,
    )


def _labels(given: str) -> list[str]:
    """Labels that are spelled so, else those that mean one of the scale's ratings: `mostly_false`, `mostly false`."""
    given = storable(given)
    rating = key_of(given).replace(" ", "_")
    if rating not in Rating.values or searching.holds("rating", given):
        return [given]
    return [given, *RatingName.objects.filter(rating=rating).values_list("label", flat=True)]


def _behind(hits: list[Hit], cursor: str | None, mark: str) -> list[Hit]:
    """The hits of this page and of those that follow."""
    if cursor is None:
        return hits
    of, rank, tie, number = decode(cursor, FOUND)[1]
    if of != _short(mark) or not _are_whole(rank, tie, number):
        raise invalid()
    return [hit for hit in hits if (-hit.rank, hit.tie, hit.number) > (-rank, tie, number)]


def _shown(page: Sequence[Hit], found: Found, asked: Question) -> list[FoundClaimOut]:
    claims = {claim.number: claim for claim in Claim.objects.filter(number__in=[hit.number for hit in page])}
    names = rating_names(claims.values())
    return [
        showing.hit(
            claims[hit.number],
            names,
            round(float(found.words[hit.number]), 4),
            found.meaning.get(hit.number),
            showing.best_part(claims[hit.number], asked),
        )
        for hit in page
        if hit.number in claims and claims[hit.number].is_live
    ]


def _later(moment: int | None, number: int) -> Q:
    """Behind a claim in the order of lists."""
    if moment is None:
        return Q(published_at=None, number__gt=number)
    when = dt.datetime.fromtimestamp(moment / 1000, dt.UTC)
    return Q(published_at__lt=when) | Q(published_at=when, number__gt=number) | Q(published_at=None)


def _short(mark: str) -> str:
    return hashlib.sha256(mark.encode()).hexdigest()[:16]


def _are_whole(*values: object) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53 for value in values)
