"""The vectors of all published stories in the memory of this process, and which are nearest to a question."""

import threading
import time
from collections.abc import Collection
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wire.models import Change, SearchDocument
from wire.search.vectors import HALF, Vectors, embed_question, load_embedder

PIECE: Final = 20_000  # rows that are read at a time
MANY: Final = 2_000  # changed stories from which reading all again costs less than asking for each
AGAIN: Final = 30.0  # seconds until stories that had no vector are looked at again
GONE: Final = -(2**62)  # the position of a story that is withdrawn, before all others


class Nearest(NamedTuple):
    """Positions of the stories nearest to a question, the nearest first; the cosines of others that were asked about, by position;
    and how far the nearest stands out of all stories, in standard deviations of their cosines.
    """

    positions: list[int]
    cosines: dict[int, float]
    prominence: float


class Held(NamedTuple):
    """Vectors that searches read, the first `size` rows of `matrix`, with the position of each row's story, and the row of each
    position. A search keeps the one it began with, so whoever writes may enlarge arrays or begin anew.
    """

    size: int
    matrix: NDArray[np.float32]
    positions: NDArray[np.int64]
    row_of: dict[int, int]


class StoryVectors:
    """Read whole once, 1,536 bytes a story; from then on the log of changes tells which stories to read again."""

    def __init__(self, model: str, dimensions: int) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._nothing = Held(0, np.zeros((0, dimensions), np.float32), np.zeros(0, np.int64), {})
        self._held = self._nothing
        self._rows: dict[str, int] = {}  # by the story's id
        self._lacking: set[str] = set()
        self._last = 0  # number of the last change that was followed
        self._looked_at = 0.0

    def read_new_vectors(self) -> None:
        """Read what was published since the last time."""
        if self._find_newest_change() is not None:
            with self._lock:
                last = self._find_newest_change()  # again: another thread may have read it meanwhile
                if last is not None:
                    self._read_changes(last)
                    self._last, self._looked_at = last, time.monotonic()

    def _find_newest_change(self) -> int | None:
        """Return the number of the newest change if there is something to read."""
        last = Change.objects.order_by("-number").values_list("number", flat=True).first() or 0
        is_due = bool(self._lacking) and time.monotonic() - self._looked_at > AGAIN
        return last if last != self._last or is_due else None

    def _read_changes(self, last: int) -> None:
        news = Change.objects.filter(number__gt=self._last, number__lte=last, kind__startswith="story_")
        changed = set(news.values_list("subject", flat=True)[: MANY + 1])
        # All again at the start, where too much changed, and where the log ends before: then the database is another one.
        if not self._last or last < self._last or len(changed) + len(self._lacking) > MANY:
            self._rows = {}
            self._read_vectors(self._nothing._replace(row_of={}), None)
        else:
            self._read_vectors(self._held, changed | self._lacking)

    def find_nearest(self, question: Vectors, many: int, low: int | None, high: int | None, others: Collection[int]) -> Nearest:
        """Return the nearest of the stories with low <= position < high, and the cosines of others."""
        count, matrix, positions, row_of = self._held
        # In this thread alone: BLAS would wake one for each core, which costs more than so few take.
        positions, cosines = positions[:count], np.einsum("ij,j", matrix[:count], question)
        inside = np.flatnonzero((positions >= (GONE + 1 if low is None else low)) & (positions < (-GONE if high is None else high)))
        if len(inside) > many:
            inside = inside[np.argpartition(-cosines[inside], many)[:many]]
        nearest = inside[np.lexsort((-positions[inside], -cosines[inside]))]
        spread = float(cosines.std()) if count else 0.0
        prominence = (float(cosines[nearest[0]]) - float(cosines.mean())) / spread if len(nearest) and spread else 0.0
        rows = [row for position in others if (row := row_of.get(position, count)) < count]
        known = dict(zip(positions[rows].tolist(), cosines[rows].round(4).tolist(), strict=True))
        return Nearest(positions[nearest].tolist(), known, prominence)

    def _read_vectors(self, held: Held, story_ids: Collection[str] | None) -> None:
        """Read these stories, or all; those that can be found and have no vector yet are kept in mind."""
        documents = SearchDocument.objects.order_by("place")
        if story_ids is not None:
            documents = documents.filter(story__chatbotnews_id__in=story_ids)
        columns = "place", "story__chatbotnews_id", "story__vector__vector", "story__vector__model"
        shown, lacking, behind = set(), set(), GONE
        while found := list(documents.filter(place__gt=behind).values_list(*columns)[:PIECE]):
            behind = found[-1][0]
            whole = [row for row in found if row[3] == self._model]
            held = self._store_rows(held, whole)
            shown |= {row[1] for row in whole}
            lacking |= {row[1] for row in found if row[3] != self._model}
        for story_id in set(story_ids or ()) - shown:
            if (row := self._rows.get(story_id)) is not None:  # withdrawn, or waiting for a vector of its new text
                held.row_of.pop(int(held.positions[row]), None)
                held.positions[row] = GONE
        self._held, self._lacking = held, lacking

    def _store_rows(self, held: Held, found: list[Any]) -> Held:
        rows = [self._rows.setdefault(story_id, len(self._rows)) for _, story_id, *_ in found]
        matrix, positions = held.matrix, held.positions
        if len(self._rows) > len(positions):
            more = max(len(self._rows), len(positions) * 5 // 4) - len(positions)
            matrix, positions = np.pad(matrix, ((0, more), (0, 0))), np.pad(positions, (0, more))
        halves = np.frombuffer(b"".join(bytes(vector) for _, _, vector, _ in found), HALF)
        matrix[rows] = halves.astype(np.float32).reshape(len(rows), matrix.shape[1])
        positions[rows] = [position for position, *_ in found]
        held.row_of.update(zip((position for position, *_ in found), rows, strict=True))
        return Held(len(self._rows), matrix, positions, held.row_of)


_story_vectors: Final = cache(StoryVectors)


def find_nearest_stories(question: str, many: int, low: int | None, high: int | None, others: Collection[int]) -> Nearest | None:
    """Return what `StoryVectors.find_nearest` does; None without a model."""
    model = load_embedder()
    if model is None:
        return None
    held = _story_vectors(model.name, model.dimensions)
    held.read_new_vectors()
    return held.find_nearest(embed_question(question), many, low, high, others)
