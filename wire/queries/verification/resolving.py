"""Which story a citation without an id is of, or one whose id is wrong: the one that says these very words, if there is one."""

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from django.db.models import Q, prefetch_related_objects
from rapidfuzz import fuzz

from citations.finding import Found
from citations.folding import is_cut_within, pieces, words_of
from wire.models import Story
from wire.models.search import newest_places
from wire.queries.verification.record import Known, Publications
from wire.snapshots import cluster
from wire.stories.question import Term
from wire.stories.tokens import tokens
from wire.stories.vocabulary import Status

CANDIDATES: Final = 60
DAYS: Final = 5  # of one text, read whole for citations whose words the index does not have
CHANGED: Final = 200  # stories that were corrected or withdrawn, read for citations that give no date
ALIKE: Final = 88  # of 100: the words of a headline beside those of a citation that somebody changed a word of
SURE: Final = 97


def resolve(found: Sequence[Found], publications: Publications) -> list[Known | None]:
    """For each the one story whose words these are; None where no story or more than one comes as near."""
    places = [_places(one, said) if (said := _said(one)) else set() for one in found]
    by_place = {known.story.search_document.place: known for known in _fetched(Q(search_document__in=set().union(*places)))}
    held = [[by_place[at] for at in some if at in by_place] for some in places]
    near = [_nearest(one, some, publications) for one, some in zip(found, held, strict=True)]
    # The index has no words of earlier revisions, nor of withdrawn stories.
    days = dict.fromkeys(day for one, known in zip(found, near, strict=True) if known is None and _said(one) and (day := _day(one)))
    on_days = _fetched(Q(wire_date__in=list(days)[:DAYS])) if days else []
    is_undated = any(known is None and _said(one) and not _day(one) for one, known in zip(found, near, strict=True))
    changed = _changed() if is_undated else []
    elsewhere = [[other for other in on_days if other.story.wire_date == day] if (day := _day(one)) else changed for one in found]
    return [known or _nearest(one, others, publications) for one, known, others in zip(found, near, elsewhere, strict=True)]


def _changed() -> list[Known]:
    """The newest stories that an editor withdrew or that have earlier revisions."""
    changed = Story.objects.published().filter(Q(status=Status.WITHDRAWN) | Q(current__revision__gt=1)).order_by("-published_at")
    return _fetched(Q(pk__in=list(changed.values_list("pk", flat=True)[:CHANGED])))


def _said(found: Found) -> str | None:
    said = found.statement or found.headline or found.rest
    return said if said and len(words_of(said)) > 1 else None


def _nearest(found: Found, candidates: list[Known], publications: Publications) -> Known | None:
    said = _said(found)
    if said is None:
        return None
    publisher = publications.canonical(found.publisher) if found.publisher else None
    scored = [(_score(found, said, known, publisher), known) for known in candidates]
    ranked = sorted(((score, known) for score, known in scored if score >= ALIKE), key=lambda pair: -pair[0])
    if not ranked:
        return None
    best, second = ranked[0], ranked[1] if len(ranked) > 1 else None
    return best[1] if second is None or best[0] - second[0] >= 1 else None


def _score(found: Found, said: str, known: Known, publisher: str | None) -> float:
    """How near the words are, 0 to 100, and a little for the publisher and the date."""
    theirs = words_of(said)
    began = pieces(said)[0] if found.rest is not None and is_cut_within(said) else ()
    best = 0.0
    for row in known.revisions:
        texts = [row.headline] if found.statement is None else [known.citable(row).statement.text, row.summary_medium, row.headline]
        for text in texts:
            ours = words_of(text)
            if 2 < len(began) < len(ours) and ours[: len(began)] == began:
                best = 100.0
            goes_on = found.rest is not None or (found.story_id is None and len(ours) > 5)
            length = len(ours) if goes_on else len(theirs)
            if ours and theirs:
                for begun in {length, len(theirs)} if found.rest is None else {length}:
                    best = max(best, fuzz.ratio(" ".join(theirs[:begun]), " ".join(ours[:begun])))
    same = known.current.original_publisher == publisher
    day = known.story.wire_date.isoformat()
    on_day = bool(found.dates) and day.startswith(found.dates[0])
    if best < SURE and not same and not on_day:
        return 0.0
    return best + 2 * same + 2 * on_day if best >= ALIKE - 4 else 0.0


def _places(found: Found, said: str) -> set[int]:
    """Where in the index stories stand that have these words, or most of them."""
    wanted = [Term((token,)) for token in dict.fromkeys(tokens(said)) if token not in cluster.STOP_WORDS]
    head = wanted[: 5 if found.rest is not None else 10]
    places: set[int] = set()
    # What a word was changed in, or what was cut inside of one, holds the others all the same.
    for number, asked in enumerate(([head], [head[:-1]], [head[:4]], [[*head[:2], *head[3:6]]], [head[3:7]], [head[1:4]])):
        if asked[0] and len(asked[0]) > 1:
            places.update(newest_places(asked, limit=CANDIDATES))
        if len(places) >= 3 or (places and number >= 3):
            break
    return places


def _day(found: Found) -> dt.date | None:
    with suppress(ValueError, IndexError):
        return dt.date.fromisoformat(found.dates[0])
    return None


def _fetched(which: Q) -> list[Known]:
    rows = list(Story.objects.published().filter(which).with_text().select_related("search_document"))
    prefetch_related_objects([story for story in rows if story.current and story.current.revision > 1], "revisions")
    return [Known(story) for story in rows]
