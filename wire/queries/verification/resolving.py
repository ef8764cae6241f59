"""Which story a citation without an id is of, or one whose id is wrong: the one that says these very words, if there is one."""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from rapidfuzz import fuzz

from citations.finding import Found
from citations.folding import words_of
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.verification.record import Known, Publications
from wire.snapshots import cluster
from wire.stories.question import Term
from wire.stories.tokens import tokens

CANDIDATES: Final = 60
ALIKE: Final = 88  # of 100: the words of a headline beside those of a citation that somebody changed a word of
SURE: Final = 97


def resolve(found: Found, publications: Publications) -> Known | None:
    """The one story whose words these are; None where no story or more than one comes as near."""
    said = found.statement or found.headline or found.rest
    if not said or len(words_of(said)) < 2:
        return None
    publisher = publications.canonical(found.publisher) if found.publisher else None
    scored = [(_score(found, said, known, publisher), known) for known in _candidates(found, said)]
    ranked = sorted(((score, known) for score, known in scored if score >= ALIKE), key=lambda pair: -pair[0])
    if not ranked:
        return None
    best, second = ranked[0], ranked[1] if len(ranked) > 1 else None
    return best[1] if second is None or best[0] - second[0] >= 1 else None


def _score(found: Found, said: str, known: Known, publisher: str | None) -> float:
    """How near the words are, 0 to 100, and a little for the publisher and the date."""
    theirs = words_of(said)
    best = 0.0
    for row in known.revisions:
        texts = [row.headline] if found.statement is None else [known.citable(row).statement.text, row.summary_medium, row.headline]
        for text in texts:
            ours = words_of(text)
            length = len(ours) if found.rest is not None else len(theirs)
            if ours and theirs:
                best = max(best, fuzz.ratio(" ".join(theirs[:length]), " ".join(ours[:length])))
    same = known.current.original_publisher == publisher
    day = known.story.wire_date.isoformat()
    on_day = bool(found.dates) and day.startswith(found.dates[0])
    if best < SURE and not same and not on_day:
        return 0.0
    return best + 2 * same + 2 * on_day if best >= ALIKE - 4 else 0.0


def _candidates(found: Found, said: str) -> Iterable[Known]:
    wanted = [Term((token,)) for token in dict.fromkeys(tokens(said)) if token not in cluster.STOP_WORDS]
    head = wanted[: 5 if found.rest is not None else 10]
    places: list[int] = []
    # What a word was changed in, or what was cut inside of one, holds the others all the same.
    for asked in ([head], [head[:-1]], [head[:4]], [[*head[:2], *head[3:6]]], [head[3:7]], [head[1:4]]):
        if asked[0] and len(asked[0]) > 1:
            places += newest_places(asked, limit=CANDIDATES)
        if len(places) >= 3:
            break
    rows = Story.objects.published().filter(search_document__in=set(places))
    stories = {story.pk: story for story in rows.with_text().prefetch_related("revisions", "aliases")}
    if found.dates and not stories:
        with suppress(ValueError):
            day = dt.date.fromisoformat(found.dates[0])
            near = Story.objects.published().on(day).with_text().prefetch_related("revisions", "aliases")[: 10 * CANDIDATES]
            stories = {story.pk: story for story in near}
    return [Known(story) for story in stories.values()]
