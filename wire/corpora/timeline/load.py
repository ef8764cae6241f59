"""From a directory to a release: read, checked whole, stored whole or not at all."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from config.errors import Busy
from wire.corpora.timeline import corpus_files, releases, store, validation, verify
from wire.corpora.timeline.corpus_config import KINDS, RESERVED, CorpusFile
from wire.corpora.timeline.corpus_files import Written
from wire.corpora.timeline.models import Corpus, CorpusRelease
from wire.models import WireState


class Unreleased(Busy):
    """The desk has changes that are not released and would be lost."""


@dataclass(slots=True)
class LoadResult:
    corpus: Corpus
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    release: CorpusRelease | None = None


def check_directory(directory: Path, slug: str = "") -> tuple[Written, CorpusFile]:
    """Read a directory and check every rule. Raises: RefusedCorpus, with every problem."""
    written = corpus_files.read_directory(directory)
    corpus = validation.parse_corpus_settings(written, slug or suggest_slug(directory))
    validation.expect_valid(written, corpus)
    return written, corpus


def suggest_slug(directory: Path) -> str:
    """Return the directory's name as a slug that no address of the API has."""
    slug = slugify(directory.resolve().name.replace("_", "-"))[:40].strip("-")
    return slug if slug and slug not in RESERVED else "corpus"


def write_example(directory: Path, kind: str) -> CorpusFile:
    """Write a small corpus of a kind that keeps every rule, to be filled. Raises: FileExistsError for a directory with files."""
    if directory.exists() and any(directory.iterdir()):
        raise FileExistsError(directory)
    words = KINDS[kind]["vocabularies"]
    layers = {layer["lane"]: layer["id"] for layer in reversed(words["layers"])}
    terms = {
        **{"slug": suggest_slug(directory), "kind": kind},
        **{"official-layer": layers["official"], "layer": layers["community"], "relation": words["relations"][0]},
        **{"official-source": words["source_types"][0], "source": words["source_types"][1], "claim": words["claim_types"][1]},
        **{"phenomenon": words["phenomenon_types"][0], "family": words["families"][0]},
    }
    text = (Path(settings.BASE_DIR) / "fixtures" / "timeline-new.json").read_text(encoding="utf-8")
    for name, term in terms.items():
        text = text.replace(f'"@{name}"', f'"{term}"')
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in orjson.loads(text).items():
        (directory / name).write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return check_directory(directory)[1]


def load_directory(directory: Path, slug: str = "", note: str = "", *, discard: bool = False) -> LoadResult:
    """Release a directory if it changed. `discard`: give up what the desk did not release. Raises: RefusedCorpus; Unreleased."""
    written, said = check_directory(directory, slug)
    with transaction.atomic():
        WireState.lock()
        corpus, is_new = Corpus.objects.get_or_create(slug=said.slug, defaults={"name": said.name, "written": "{}"})
        if not is_new and store.has_unreleased_changes(corpus):
            if not discard:
                raise Unreleased(
                    f"The desk has unreleased changes to {corpus.slug}. Nothing was loaded.",
                    "Release them, or load with --discard to discard them.",
                )
            store.discard_draft(corpus)
        loaded = LoadResult(corpus)
        # Without corpus.json the corpus says what it is called, and no more.
        described: dict[str, Any] = written.corpus or said.model_dump(mode="json", include={"slug", "name", "version"})
        corpus.name, corpus.written = said.name, orjson.dumps(described).decode()
        corpus.meta = orjson.dumps(written.meta).decode()
        corpus.save(update_fields=["name", "written", "meta", "changed_at"])
        for table, rows in written.rows.items():
            if counted := store.replace_draft_rows(corpus, table, rows):
                loaded.counts[table] = counted
        if is_new and written.release:
            loaded.release = verify.restore_draft(corpus, written)
        else:
            loaded.release = releases.release_draft(corpus, note, checked=True)
        return loaded
