"""A release as a directory: the files that it would be loaded from, and what proves that it is unchanged."""

from pathlib import Path
from typing import Any

import orjson

from wire.timeline.models import MODELS, Corpus, CorpusRelease
from wire.timeline.reading import CORPUS, FILES, RELEASE, TABLES


def files(corpus: Corpus, release: CorpusRelease) -> dict[str, bytes]:
    """Every file by its name. The same release gives the same bytes on every machine."""
    meta = orjson.loads(release.meta)
    found = {CORPUS: _json(orjson.loads(release.written))}
    for name in FILES:
        content: dict[str, Any] = {"meta": meta[name]} if meta.get(name) else {}
        for table in TABLES:
            if table.file == name:
                content[table.member] = [
                    row.row for row in MODELS[table.name].objects.in_release(corpus.pk, release.number).in_order()
                ]
        found[name] = _json(content)
    found[RELEASE] = _json(proof(release))
    return found


def proof(release: CorpusRelease) -> dict[str, Any]:
    """What release.json says: enough to check the files without this server."""
    return {
        "number": release.number,
        "released_at": release.released_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "note": release.note,
        "sha256": release.sha256,
        "previous_sha256": release.previous_sha256 or None,
        "signature": release.signature,
        "key_id": release.key_id,
        "public_key": release.public_key,
        "manifest": orjson.loads(release.manifest),
    }


def dump(corpus: Corpus, release: CorpusRelease, directory: Path) -> list[Path]:
    """Write them; each appears whole or not at all."""
    directory.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in files(corpus, release).items():
        draft = directory / f".{name}.part"
        draft.write_bytes(content)
        draft.replace(directory / name)
        paths.append(directory / name)
    return paths


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
