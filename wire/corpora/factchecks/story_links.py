"""Links of stories with claims that were checked. A wrong link is worse than a missing one: both meaning and words must agree.

Both sides have vectors of the wire's own model; with another model for claims nothing is linked, since their cosines mean nothing.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from django.db import transaction
from django.utils import timezone

from wire.corpora.factchecks import search, store
from wire.corpora.factchecks.languages import content_stems, stem
from wire.corpora.factchecks.models import Claim, ClaimVector, FactcheckState, StoryLink
from wire.corpora.factchecks.vector_store import InMemory, read_halves
from wire.models import StoryVector, WireState
from wire.search.vectors import embedder
from wire.text.tokens import words

ALIKE: Final = 0.88  # cosine of story and claim, at least
HELD: Final = 0.5  # share of the claim's rarity that the story's words hold, at least
NEAREST: Final = 10  # claims that are looked at for a story
LINKED: Final = 3  # claims of one story, at most
DAYS: Final = 30  # for so long after its publication a story is looked at again
BLOCK: Final = 64  # stories that are compared at once


class FoundLink(NamedTuple):
    story: int
    claim: int
    similarity: float


def link(days: int = DAYS) -> int | None:
    """Find links of the stories of so many days anew, if anything changed. Return how many there are, None if nothing changed.

    What editors pinned or cut stays.
    """
    state, since = FactcheckState.objects.get(pk=1), timezone.now() - dt.timedelta(days=days)
    stories = StoryVector.objects.filter(story__published_at__gte=since).exclude(story__status="withdrawn")
    mark = f"{days} {state.version} {WireState.objects.get(pk=1).version} {stories.count()} {ClaimVector.objects.count()}"[:100]
    if state.linked == mark:
        return None
    model = embedder()
    found = _find_links(list(stories.values_list("story_id", flat=True)), model.name, model.dimensions) if model else []
    with transaction.atomic():
        FactcheckState.lock()
        former = StoryLink.objects.filter(kind=StoryLink.Origin.FOUND, story__published_at__gte=since)
        was = set(former.values_list("story_id", "claim_id"))
        now = {(one.story, one.claim) for one in found}
        for story, claim in was - now:
            StoryLink.objects.filter(story=story, claim=claim, kind=StoryLink.Origin.FOUND).delete()
        new = [StoryLink(story_id=one.story, claim_id=one.claim, similarity=one.similarity) for one in found]
        StoryLink.objects.bulk_create(new, ignore_conflicts=True)  # editors' stay as they are
        if was != now:
            store.announce()
        # The announcement raised the wire version; the mark is of what will be seen next time.
        after = mark.split(" ")
        after[2] = str(WireState.objects.get(pk=1).version)
        FactcheckState.objects.filter(pk=1).update(linked=" ".join(after))
    return len(found)


def _find_links(stories: Sequence[int], model: str, dimensions: int) -> list[FoundLink]:
    vectors_of_claims = InMemory(model, dimensions)
    vectors_of_claims.follow()
    numbers, matrix = vectors_of_claims.everything()
    links = list[FoundLink]()
    if not len(numbers):
        return links
    columns = ("story_id", "story__current__headline", "story__current__summary_medium", "vector")
    for at in range(0, len(stories), BLOCK):
        rows = list(StoryVector.objects.filter(story__in=stories[at : at + BLOCK], model=model).values_list(*columns))
        cosines = read_halves((row[3] for row in rows), dimensions) @ matrix.T
        for (story, headline, summary, _), alike in zip(rows, cosines, strict=True):
            best = np.argsort(-alike)[:NEAREST]
            near = {int(numbers[place]): float(alike[place]) for place in reversed(best) if alike[place] >= ALIKE}
            links += _confirm(story, f"{headline} {summary}", near) if near and headline else []
    return links


def _confirm(story: int, text: str, near: dict[int, float]) -> list[FoundLink]:
    """Return links with those claims (by number, with the cosine) whose words the story's text holds, too."""
    found = []
    for claim in Claim.objects.live().filter(number__in=near):
        share = share_of_words(claim, text)
        if share >= HELD:
            found.append(FoundLink(story, claim.pk, round(near[claim.number] * (0.5 + share / 2), 3)))
    return sorted(found, key=lambda one: -one.similarity)[:LINKED]


def share_of_words(claim: Claim, text: str) -> float:
    """Return the share of the claim's words that a text holds, rare ones counting more."""
    stems = content_stems(claim.synopsis, claim.language)
    rarities = search.rarities(sorted(stems))
    held = stems & {stem(word, claim.language) for word in words(text)}
    total = sum(rarities.values())
    return sum(rarities[token] for token in held) / total if total else 0.0
