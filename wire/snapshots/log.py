"""The log over all snapshots: each is a leaf of one Merkle tree, in the chain's order, written when it is published."""

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import transaction

from wire.models import LogEntry, LogNode, Snapshot, WireState
from wire.models.compiled import quick_cursor
from wire.models.inserted import OR_NOTHING, insert
from wire.snapshots import merkle
from wire.stories.provenance import canonical

BATCH: Final = 200
# Written by hand: a proof is of a dozen places, and Django takes longer to write that statement than databases to answer it.
_LEAVES: Final = "SELECT 0, sequence - 1, leaf FROM wire_logentry WHERE sequence IN (VALUES {})"
_ABOVE: Final = "SELECT level, position, digest FROM wire_lognode WHERE (level, position) IN (VALUES {})"


def origin() -> str:
    """The log's name: the site's address without its scheme."""
    parts = urlsplit(settings.WIRE_SITE_URL)
    return f"{parts.netloc}{parts.path}".rstrip("/")


def story_leaf(line: Mapping[str, Any]) -> bytes:
    """The leaf hash of a story's line in its day's manifest, as that is stored: of its RFC 8785 bytes, which for ids, hashes and
    numbers of two decimals that were canonical before are these.
    """
    return merkle.leaf_hash(orjson.dumps(line, option=orjson.OPT_SORT_KEYS))


def stories_root(manifest: Mapping[str, Any]) -> bytes:
    return merkle.root([story_leaf(line) for line in manifest["stories"]])


def leaf_value(sequence: int, wire_date: str, revision: int, wire_sha256: str, stories: bytes) -> dict[str, Any]:
    """What a leaf of the log is the hash of, as RFC 8785 bytes."""
    return {
        "v": 1,
        "sequence": sequence,
        "wire_date": wire_date,
        "revision": revision,
        "wire_sha256": wire_sha256,
        "stories_root": stories.hex(),
    }


def append(snapshot: Snapshot) -> LogEntry:
    """The leaf of a snapshot, and of those before it that have none; the last one, not signed. Needs the lock of WireState."""
    last = _last()
    for missing in Snapshot.objects.filter(sequence__gt=last, sequence__lt=snapshot.sequence).order_by("sequence").iterator(BATCH):
        _append(missing)
    return _append(snapshot)


def catch_up() -> int:
    """Append every snapshot that has no leaf yet: of a wire from before the log, or one that was restored. How many."""
    number = 0
    while True:
        with transaction.atomic():
            WireState.lock()
            rows = list(Snapshot.objects.filter(sequence__gt=_last()).order_by("sequence")[:BATCH])
            for snapshot in rows:
                _append(snapshot)
            number += len(rows)
        if len(rows) < BATCH:
            return number


def nodes(places: Iterable[merkle.Place]) -> dict[merkle.Place, bytes]:
    """The stored hashes at these places, leaves among them."""
    wanted = set(places)
    leaves = [(index + 1,) for level, index in wanted if level == 0]
    above = [place for place in wanted if place[0] > 0]
    found: dict[merkle.Place, bytes] = {}
    with quick_cursor() as cursor:
        for sql, keys in ((_LEAVES, leaves), (_ABOVE, above)):
            if keys:
                rows = ", ".join(f"({', '.join(['%s'] * len(keys[0]))})" for _ in keys)
                cursor.execute(sql.format(rows), [value for key in keys for value in key])
                found |= {(level, index): bytes(digest) for level, index, digest in cursor.fetchall()}
    return found


def _last() -> int:
    return LogEntry.objects.order_by("-sequence").values_list("sequence", flat=True).first() or 0


def _append(snapshot: Snapshot) -> LogEntry:
    size = snapshot.sequence
    stories = stories_root(snapshot.manifest)
    value = leaf_value(size, str(snapshot.wire_date), snapshot.revision, snapshot.wire_sha256, stories)
    known: dict[merkle.Place, bytes] = {(0, size - 1): merkle.leaf_hash(canonical(value))}
    made = merkle.completed(size)
    wanted = {place for above in made for place in merkle.children(above)} | set(merkle.subtree(0, size))
    known |= nodes(wanted - known.keys() - set(made))
    for place in made:
        left, right = merkle.children(place)
        known[place] = merkle.node_hash(known[left], known[right])
    insert(LogNode, ("level", "position", "digest"), [(*place, known[place]) for place in made], OR_NOTHING)
    root = merkle.joined(merkle.subtree(0, size), known.__getitem__)
    return LogEntry.objects.create(
        sequence=size, stories_root=stories, leaf=known[0, size - 1], root=root, origin="", signature=b""
    )
