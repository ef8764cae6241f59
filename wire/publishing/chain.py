"""The newest links of the chain, each recomputed from its own bytes. All of it: `wire.ops.archive.verify`."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from config.errors import Damaged
from wire.models import Snapshot
from wire.publishing.signing import is_valid
from wire.text import provenance

LINKS: Final = 10  # newest snapshots that are looked at


def faults() -> Iterator[str]:
    """Yield a sentence for each of them that is not as it was signed, newest first."""
    newest = list(Snapshot.objects.select_related("key").order_by("-sequence")[: LINKS + 1])
    for snapshot, before in pairwise([*newest, None]):
        if snapshot is None or (before is None and len(newest) > LINKS):
            continue  # the last one is only there to be linked to
        if fault := _describe_fault(snapshot, before):
            yield f"Snapshot {snapshot}: {fault}."


def _describe_fault(snapshot: Snapshot, before: Snapshot | None) -> str:
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
    if {snapshot.previous_sha256, snapshot.manifest["previous_sha256"]} != {before.wire_sha256 if before else None}:
        return "it does not link to the one before"
    return ""
