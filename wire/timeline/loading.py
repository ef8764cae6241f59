"""From a directory to a release: read, checked whole, stored whole or not at all."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from django.db import transaction
from django.utils.text import slugify

from config.errors import Busy
from wire.models import WireState
from wire.timeline import reading, releasing, rules, storing, verifying
from wire.timeline.corpusfile import CorpusFile
from wire.timeline.models import Corpus, CorpusRelease
from wire.timeline.reading import Written


class Unreleased(Busy):
    """The desk has changes that loading would overwrite."""


@dataclass(slots=True)
class Loaded:
    """What loading did."""

    corpus: Corpus
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    release: CorpusRelease | None = None


def check(directory: Path, slug: str = "") -> tuple[Written, CorpusFile]:
    """What is written there. Raises: Refused, with every problem."""
    written = reading.read(directory)
    corpus = rules.corpus_of(written, slug or slugify(directory.resolve().name) or "corpus")
    rules.expect(written, corpus)
    return written, corpus


def load(
    directory: Path,
    slug: str = "",
    note: str = "",
    *,
    discard: bool = False,
    now: dt.datetime | None = None,
    told: Callable[[str, int], object] = lambda _what, _done: None,
) -> Loaded:
    """The directory as the corpus's next release, if anything in it changed. `discard`: give up what the desk did not release.

    Raises: Refused; Unreleased.
    """
    written, said = check(directory, slug)
    with transaction.atomic():
        WireState.lock()
        corpus, is_new = Corpus.objects.get_or_create(slug=said.slug, defaults={"name": said.name, "written": "{}"})
        if not is_new and storing.has_changes(corpus):
            if not discard:
                raise Unreleased(
                    f"The desk has changes of {corpus.slug} that are not released. Nothing was loaded.",
                    "Release them, or load with --discard to give them up.",
                )
            storing.undo(corpus)
        loaded = Loaded(corpus)
        _describe(corpus, written, said)
        for table, rows in written.rows.items():
            counted = storing.replace(corpus, table, enumerate(rows), lambda done, table=table: told(table, done))  # type: ignore[misc]
            if counted:
                loaded.counts[table] = counted
        if is_new and written.release:
            loaded.release = verifying.restored(corpus, written, lambda done: told("index", done))
        else:
            loaded.release = releasing.release(corpus, note, now, lambda done: told("index", done), checked=True)
        return loaded


def _describe(corpus: Corpus, written: Written, said: CorpusFile) -> None:
    """Note what is said beside rows; a corpus without corpus.json says what it is called, and no more."""
    told: dict[str, Any] = written.corpus or said.model_dump(mode="json", include={"slug", "name", "version"})
    corpus.name = said.name
    corpus.written = orjson.dumps(told).decode()
    corpus.meta = orjson.dumps(written.meta).decode()
    corpus.save(update_fields=["name", "written", "meta", "changed_at"])
