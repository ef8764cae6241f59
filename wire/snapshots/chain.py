"""The newest links of the chain, each recomputed from its own bytes. All of it: `wire.archive.verify`."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from config.errors import Damaged
from wire.models import Snapshot
from wire.snapshots.signing import is_valid
from wire.stories import provenance

LINKS: Final = 10
"""How many of the newest snapshots are looked at."""


def faults() -> Iterator[str]:
    """A sentence for each of them that is not as it was signed, newest first."""
    newest = list(Snapshot.objects.select_related("key").order_by("-sequence")[: LINKS + 1])
    for snapshot, before in pairwise([*newest, None]):
        if snapshot is None or (before is None and len(newest) > LINKS):
            continue  # the last one is only there to be linked to
        if wrong := _wrong(snapshot, before):
            yield f"Snapshot {snapshot}: {wrong}."


def _wrong(snapshot: Snapshot, before: Snapshot | None) -> str:
    try:
        canonical = snapshot.canonical
    except Damaged as error:
        return f"its bytes do not have its hash, for they cannot be read ({error.__cause__})"
    if provenance.sha256(canonical) != snapshot.wire_sha256:
        return "its bytes do not have its hash"
    if not is_valid(snapshot.signature, snapshot.wire_sha256, snapshot.key.public_key):
        return f"its signature is not that of key {snapshot.key_id}"
    if snapshot.key.retired_at and snapshot.generated_at > snapshot.key.retired_at:
        return f"its key {snapshot.key_id} was retired before"
    linked = before.wire_sha256 if before else None
    if {snapshot.previous_sha256, snapshot.manifest["previous_sha256"]} != {linked}:
        return "it does not link to the one before"
    return ""
