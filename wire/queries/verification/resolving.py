"""Which story a citation without an id is of, or one whose id is wrong: the one that says these very words, if there is one."""

import datetime as dt
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from django.db.models import Q, prefetch_related_objects
from rapidfuzz import fuzz

from citations.folding import is_cut_within, pieces, words_of
from citations.found import Found
from wire.models import Story, StoryRevision
from wire.models.search import first_place, newest_places
from wire.models.story import BY_EDITOR
from wire.queries.verification.record import Known, Publications
from wire.snapshots import cluster
from wire.stories.question import Term
from wire.stories.tokens import tokens

CANDIDATES: Final = 60
DAYS: Final = 5  # of one text, read whole for citations whose words the index does not have
WINDOW: Final = dt.timedelta(
    days=2
)  # before and after noon, UTC, of the day that is given: days of a wire begin at its own midnight
CHANGED: Final = 200  # stories that were corrected or withdrawn, read for citations that give no date
LOOSER: Final = 20  # below that for one whose publisher and date are the story's
ALIKE: Final = 88  # of 100: the words of a headline beside those of a citation that somebody changed a word of
SURE: Final = 97


def resolve(found: Sequence[Found], publications: Publications) -> list[list[Known]]:
    """For each the story whose words these are; none, where no story is near; several, where they are as near as each other."""
    ranked: dict[int, list[tuple[float, Known]]] = {id(one): [] for one in found}
    for look in (_near_their_day, _anywhere, _read_whole):
        missed = [one for one in found if _said(one) and not ranked[id(one)]]
        for one, candidates in zip(missed, look(missed), strict=True):
            ranked[id(one)] = _ranked(one, candidates, publications, is_last=look is _read_whole)
    return [_nearest(ranked[id(one)]) for one in found]


def _near_their_day(found: Sequence[Found]) -> list[list[Known]]:
    """Stories of about the day that each gives which the index has by their words; more often than not there is one."""
    windows = [(first_place(noon - WINDOW), first_place(noon + WINDOW)) if (noon := _noon(one)) else None for one in found]
    return _of_places([_places(one, *window) if window else set() for one, window in zip(found, windows, strict=True)])


def _anywhere(found: Sequence[Found]) -> list[list[Known]]:
    return _of_places([_places(one) for one in found])


def _of_places(places: Sequence[set[int]]) -> list[list[Known]]:
    by_place = {known.story.search_document.place: known for known in _fetched(Q(search_document__in=set().union(*places)))}
    return [[by_place[at] for at in some if at in by_place] for some in places]


def _read_whole(found: Sequence[Found]) -> list[list[Known]]:
    """Stories of the day that each gives, or that were changed: the index has no words of earlier revisions, nor of withdrawn
    stories.
    """
    days = list(dict.fromkeys(day for one in found if (day := _day(one))))[:DAYS]
    on_days = _fetched(Q(wire_date__in=days)) if days else []
    changed = _changed() if any(_day(one) is None for one in found) else []
    return [[known for known in on_days if known.story.wire_date == day] if (day := _day(one)) else changed for one in found]


def _changed() -> list[Known]:
    """The newest stories that an editor corrected or withdrew."""
    by_editor = StoryRevision.objects.filter(BY_EDITOR).order_by("-pk").values_list("story", flat=True)
    return _fetched(Q(pk__in=list(by_editor[:CHANGED])))


def _said(found: Found) -> str | None:
    said = found.statement or found.headline or found.rest
    least = 1 if found.dates else 2  # words: one is enough for a headline of a day that is given
    return said if said and len(words_of(said)) >= least else None


def _ranked(found: Found, candidates: list[Known], publications: Publications, *, is_last: bool) -> list[tuple[float, Known]]:
    """Those that say nearly these words, the nearest first. `is_last`: if there is none, the one report of the publisher and the
    day that are named whose words are at all alike.
    """
    said = _said(found)
    if said is None:
        return []
    publisher = publications.canonical(found.publisher) if found.publisher else None
    scored = [(_score(found, said, known, publisher), known) for known in candidates]
    near = [(score, known) for score, known in scored if score >= ALIKE]
    if not near and is_last and publisher and found.dates:
        alike = [(score, known) for score, known in scored if score > ALIKE - LOOSER]
        near = alike if len(alike) == 1 else []
    return sorted(near, key=lambda pair: -pair[0])


def _nearest(ranked: list[tuple[float, Known]]) -> list[Known]:
    tied = [known for score, known in ranked if ranked[0][0] - score < 1]
    same = {(known.current.headline, known.current.original_publisher, known.story.wire_date) for known in tied}
    return tied[:1] if len(same) == 1 else tied  # a publisher that has one headline twice a day means either


def _score(found: Found, said: str, known: Known, publisher: str | None) -> float:
    """How near the words are, 0 to 100, and a little for the publisher and the date."""
    theirs = words_of(said)
    began = pieces(said)[0] if found.rest is not None and is_cut_within(said) else ()
    same = known.current.original_publisher == publisher
    on_day = bool(found.dates) and known.story.wire_date.isoformat().startswith(found.dates[0])
    least = ALIKE - LOOSER if same and on_day else ALIKE - 4
    best = 100.0 if found.statement and len(words_of(said)) > 4 and known.places_of(said) else 0.0
    for row in known.revisions:
        texts = [row.headline] if found.statement is None else [known.statements[row.revision], row.summary_medium, row.headline]
        for text in texts:
            ours = words_of(text)
            if 2 < len(began) < len(ours) and ours[: len(began)] == began:
                best = 100.0
            goes_on = found.rest is not None or (found.story_id is None and len(ours) > 5)
            length = len(ours) if goes_on else len(theirs)
            if ours and theirs:
                for begun in {length, len(theirs)} if found.rest is None else {length}:
                    best = max(
                        best,
                        _alike(theirs[:begun], ours[:begun], least=least, is_near=same),
                    )
    if best < SURE and not same and not on_day:
        return 0.0
    return best + 2 * same + 2 * on_day if best else 0.0


def _alike(theirs: Sequence[str], ours: Sequence[str], *, least: int, is_near: bool) -> float:
    """0 to 100, and 0 below `least`. `is_near`: both are of one publisher, so that a long word may be another, or words may have
    changed places.
    """
    one, other = " ".join(theirs), " ".join(ours)
    best = fuzz.ratio(one, other, score_cutoff=least)
    if best < ALIKE and is_near:
        best = max(best, fuzz.ratio(theirs, ours, score_cutoff=least), fuzz.token_sort_ratio(one, other, score_cutoff=least))
    return best


def _places(found: Found, low: int | None = None, high: int | None = None) -> set[int]:
    """Where in the index stories stand that have these words, or most of them."""
    said = _said(found) or ""
    wanted = [Term((token,)) for token in dict.fromkeys(tokens(said)) if token not in cluster.STOP_WORDS]
    head = wanted[: 5 if found.rest is not None else 10]
    places: set[int] = set()
    # What a word was changed in, or what was cut inside of one, holds the others all the same.
    parts = (head, head[:-1], head[:4], [*head[:2], *head[3:6]], head[3:7], head[1:4], wanted[4:8], wanted[6:9])
    for number, asked in enumerate(parts):
        if len(asked) > 1:
            places.update(newest_places([asked], limit=CANDIDATES, low=low, high=high))
        if len(places) >= 3 or (places and number >= 3):
            break
    return places


def _day(found: Found) -> dt.date | None:
    with suppress(ValueError, IndexError):
        return dt.date.fromisoformat(found.dates[0])
    return None


def _noon(found: Found) -> dt.datetime | None:
    day = _day(found)
    return (
        dt.datetime.combine(day, dt.time(12), dt.UTC)
        if day and WINDOW.days < day.toordinal() < dt.date.max.toordinal() - WINDOW.days
        else None
    )


def _fetched(which: Q) -> list[Known]:
    rows = list(Story.objects.published().filter(which).with_text().select_related("search_document"))
    prefetch_related_objects([story for story in rows if story.current and story.current.revision > 1], "revisions")
    return [Known(story) for story in rows]
