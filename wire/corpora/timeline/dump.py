"""A release as a directory: the files that it would be loaded from, and what proves that it is unchanged."""

from pathlib import Path
from typing import Any, Final

import orjson

from wire.corpora.timeline.corpus_files import CORPUS, FILES, RELEASE, TABLES
from wire.corpora.timeline.models import MODELS, Corpus, CorpusRelease

NAMES: Final = (CORPUS, *FILES, RELEASE)


def build_release_file(corpus: Corpus, release: CorpusRelease, name: str) -> bytes:
    """Return a file of a release. The same release gives the same bytes on every machine."""
    if name == CORPUS:
        return _encode_json(orjson.loads(release.written))
    if name == RELEASE:  # enough to check the files without this server
        proof = {"number": release.number, "released_at": release.timestamp, "note": release.note, "sha256": release.sha256}
        proof |= {"previous_sha256": release.previous_sha256 or None}
        proof |= {column: getattr(release, column) for column in ("signature", "key_id", "public_key")}
        return _encode_json(proof | {"manifest": orjson.loads(release.manifest)})
    meta = orjson.loads(release.meta).get(name)
    content: dict[str, Any] = {"meta": meta} if meta else {}
    for table in TABLES:
        if table.file == name:
            rows = MODELS[table.name].objects.in_release(corpus.pk, release.number).in_order()
            content[table.member] = [orjson.loads(body) for body in rows.values_list("body", flat=True)]
    return _encode_json(content)


def dump_release(corpus: Corpus, release: CorpusRelease, directory: Path) -> list[Path]:
    """Write the files; each appears whole or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in NAMES:
        draft = directory / f".{name}.part"
        draft.write_bytes(build_release_file(corpus, release, name))
        draft.replace(directory / name)
        paths.append(directory / name)
    return paths


def _encode_json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
