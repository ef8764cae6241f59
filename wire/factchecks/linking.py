"""Which stories are about a claim that was checked. A wrong link is worse than a missing one: both meaning and words must agree.

Both sides have vectors of the wire's own model; with another model for claims nothing is linked, since their cosines mean nothing.
"""

import datetime as dt
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from django.db import transaction
from django.utils import timezone

from wire.factchecks import searching, storing
from wire.factchecks.languages import STOP_WORDS, stem
from wire.factchecks.models import Claim, ClaimVector, FactcheckState, StoryLink
from wire.factchecks.stores import InMemory
from wire.models import StoryVector, WireState
from wire.stories.tokens import words
from wire.vectors.embedder import embedder
from wire.vectors.stored import HALF

ALIKE: Final = 0.88  # cosine of story and claim, at least
HELD: Final = 0.5  # share of the claim's rarity that the story's words hold, at least
NEAREST: Final = 10  # claims that are looked at for a story
LINKED: Final = 3  # claims of one story, at most
DAYS: Final = 30  # for so long after its publication a story is looked at again
BLOCK: Final = 64  # stories that are compared at once


class Linked(NamedTuple):
    story: int
    claim: int
    similarity: float


def link(days: int = DAYS) -> int | None:
    """Find links of the stories of so many days anew, if anything changed; how many there are, None if nothing did.

    What editors pinned or cut stays.
    """
    state, since = FactcheckState.objects.get(pk=1), timezone.now() - dt.timedelta(days=days)
    stories = StoryVector.objects.filter(story__published_at__gte=since).exclude(story__status="withdrawn")
    mark = f"{days} {state.version} {WireState.objects.get(pk=1).version} {stories.count()} {ClaimVector.objects.count()}"[:100]
    if state.linked == mark:
        return None
    model = embedder()
    found = _found(list(stories.values_list("story_id", flat=True)), model.name, model.dimensions) if model else []
    with transaction.atomic():
        FactcheckState.lock()
        former = StoryLink.objects.filter(kind=StoryLink.Kind.FOUND, story__published_at__gte=since)
        was = set(former.values_list("story_id", "claim_id"))
        now = {(one.story, one.claim) for one in found}
        for story, claim in was - now:
            StoryLink.objects.filter(story=story, claim=claim, kind=StoryLink.Kind.FOUND).delete()
        new = [StoryLink(story_id=one.story, claim_id=one.claim, similarity=one.similarity) for one in found]
        StoryLink.objects.bulk_create(new, ignore_conflicts=True)  # editors' stay as they are
        if was != now:
            storing.announce()
        # The announcement raised the wire version; the mark is of what will be seen next time.
        after = mark.split(" ")
        after[2] = str(WireState.objects.get(pk=1).version)
        FactcheckState.objects.filter(pk=1).update(linked=" ".join(after))
    return len(found)


def _found(stories: Sequence[int], model: str, dimensions: int) -> list[Linked]:
    store = InMemory(model, dimensions)
    store.follow()
    numbers, matrix = store.everything()
    links = list[Linked]()
    if not len(numbers):
        return links
    for at in range(0, len(stories), BLOCK):
        rows = list(
            StoryVector.objects.filter(story__in=stories[at : at + BLOCK], model=model).values_list(
                "story_id", "story__current__headline", "story__current__summary_medium", "vector"
            )
        )
        if not rows:
            continue
        vectors = np.frombuffer(b"".join(bytes(row[3]) for row in rows), dtype=HALF).reshape(len(rows), -1).astype(np.float32)
        cosines = vectors @ matrix.T
        for (story, headline, summary, _), alike in zip(rows, cosines, strict=True):
            best = np.argsort(-alike)[:NEAREST]
            near = {int(numbers[place]): float(alike[place]) for place in reversed(best) if alike[place] >= ALIKE}
            links += agreeing(story, f"{headline} {summary}", near) if near and headline else []
    return links


def agreeing(story: int, text: str, near: dict[int, float]) -> list[Linked]:
    """Of claims (by number) that mean much the same as a story's text, those whose words it holds, too."""
    found = []
    for claim in Claim.objects.live().filter(number__in=near):
        share = held(claim, text)
        if share >= HELD:
            found.append(Linked(story, claim.pk, round(near[claim.number] * (0.5 + share / 2), 3)))
    return sorted(found, key=lambda one: -one.similarity)[:LINKED]


def held(claim: Claim, text: str) -> float:
    """The share of the claim's words that a text holds, rare ones counting more."""
    stop = STOP_WORDS.get(claim.language, frozenset())
    told = {stem(word, claim.language) for word in words(claim.synopsis) if word not in stop}
    rare = searching.rarities(sorted(told))
    holds = told & {stem(word, claim.language) for word in words(text)}
    whole = sum(rare.values())
    return sum(rare[token] for token in holds) / whole if whole else 0.0
