"""Links of stories with claims that were checked. A wrong link is worse than a missing one: both meaning and words must agree.

Both sides have vectors of the wire's own model; with another model for claims nothing is linked, since their cosines mean nothing.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Final

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from wire.corpora.factchecks import search, store
from wire.corpora.factchecks.languages import list_content_stems, stem
from wire.corpora.factchecks.models import Claim, ClaimVector, FactcheckState, StoryLink
from wire.corpora.factchecks.vector_store import VectorStore, decode_half_floats
from wire.models import StoryVector, WireState
from wire.search.vectors import load_embedder
from wire.text.tokens import split_words

ALIKE: Final = 0.88  # cosine of story and claim, at least
HELD: Final = 0.5  # share of the claim's rarity that the story's words hold, at least
NEAREST: Final = 10  # claims that are looked at for a story
LINKED: Final = 3  # claims of one story, at most
DAYS: Final = 30  # for so long after its publication a story is looked at again
BLOCK: Final = 64  # stories that are compared at once


def link_recent_stories(days: int = DAYS) -> int | None:
    """Find the links of recent stories anew. Return how many there are; None if nothing changed. Editors' links stay."""
    since = timezone.now() - dt.timedelta(days=days)
    stories = StoryVector.objects.filter(story__published_at__gte=since).exclude(story__status="withdrawn")
    if FactcheckState.objects.get(pk=1).linked == _build_marker(days, stories):
        return None
    model = load_embedder()
    found = _find_links(list(stories.values_list("story_id", flat=True)), model.name, model.dimensions) if model else []
    with transaction.atomic():
        FactcheckState.lock()
        former = StoryLink.objects.filter(kind=StoryLink.Origin.FOUND, story__published_at__gte=since)
        was, now = set(former.values_list("story_id", "claim_id")), {(one.story_id, one.claim_id) for one in found}
        for story, claim in was - now:
            former.filter(story=story, claim=claim).delete()
        StoryLink.objects.bulk_create(found, ignore_conflicts=True)  # editors' stay as they are
        if was != now:
            store.invalidate_caches()
        FactcheckState.objects.filter(pk=1).update(linked=_build_marker(days, stories))  # with the version that was just announced
    return len(found)


def _build_marker(days: int, stories: QuerySet[StoryVector]) -> str:
    """Return a text that changes with whatever links are found among."""
    versions = f"{FactcheckState.objects.get(pk=1).version} {WireState.objects.get(pk=1).version}"
    return f"{days} {versions} {stories.count()} {ClaimVector.objects.count()}"[:100]


def _find_links(stories: Sequence[int], model: str, dimensions: int) -> list[StoryLink]:
    vectors, links = VectorStore(model, dimensions), list[StoryLink]()
    vectors.read_new_rows()
    numbers, matrix = vectors.get_vectors()
    if not len(numbers):
        return links
    columns = ("story_id", "story__current__headline", "story__current__summary_medium", "vector")
    for at in range(0, len(stories), BLOCK):
        rows = list(StoryVector.objects.filter(story__in=stories[at : at + BLOCK], model=model).values_list(*columns))
        cosines = decode_half_floats((row[3] for row in rows), dimensions) @ matrix.T
        for (story, headline, summary, _), alike in zip(rows, cosines, strict=True):
            best = np.argsort(-alike)[:NEAREST]
            near = {int(numbers[place]): float(alike[place]) for place in reversed(best) if alike[place] >= ALIKE}
            links += _confirm_by_words(story, f"{headline} {summary}", near) if near and headline else []
    return links


def _confirm_by_words(story: int, text: str, near: dict[int, float]) -> list[StoryLink]:
    """Return links with those claims (by number, with the cosine) whose words the story's text holds, too."""
    found = []
    for claim in Claim.objects.live().filter(number__in=near):
        stems = list_content_stems(claim.synopsis, claim.language)
        rarities = search.measure_rarities(sorted(stems))
        held = stems & {stem(word, claim.language) for word in split_words(text)}
        total = sum(rarities.values())
        share = sum(rarities[token] for token in held) / total if total else 0.0
        if share >= HELD:
            found.append(StoryLink(story_id=story, claim=claim, similarity=round(near[claim.number] * (0.5 + share / 2), 3)))
    return sorted(found, key=lambda one: -one.similarity)[:LINKED]
