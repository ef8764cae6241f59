"""The log over all snapshots: each is a leaf of a Merkle tree, in the chain's order, written when it is published."""

import base64
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from config.errors import WireError
from wire.models import LogEntry, LogNode, SigningKey, Snapshot, WireState
from wire.publishing.transparency import merkle, signed_note
from wire.schemas import build_from
from wire.schemas.proofs import LeafOut
from wire.text.provenance_manifest import canonicalize_json

BATCH: Final = 200
_REBUILD: Final = (
    "Nothing was signed, and no snapshot was added. Run manage.py verifywire; if it finds only the log at fault, "
    "rebuild it from the snapshots with manage.py rebuildlog."
)


class Leaf(NamedTuple):
    """A leaf as its snapshot has it, the root with this leaf the last, and the nodes above that it completes."""

    sequence: int
    stories_root: bytes
    leaf: bytes
    root: bytes
    nodes: dict[merkle.Place, bytes]


def get_origin() -> str:
    """Return the log's name: the site's address without its scheme."""
    parts = urlsplit(settings.WIRE_SITE_URL)
    return f"{parts.netloc}{parts.path}".rstrip("/")


def hash_story_leaf(line: Mapping[str, Any]) -> bytes:
    """Return the leaf hash of a story's line in its day's stored manifest: of its RFC 8785 bytes."""
    # For ids, hashes and numbers of two decimals that were canonical before, orjson writes those bytes.
    return merkle.hash_leaf(orjson.dumps(line, option=orjson.OPT_SORT_KEYS))


def describe_leaf(snapshot: Snapshot, stories: bytes) -> LeafOut:
    """Return what a leaf of the log is the hash of; `stories`: the root of its stories."""
    return build_from(LeafOut, snapshot, v=1, stories_root=stories.hex())


def append_snapshot(snapshot: Snapshot) -> LogEntry:
    """Append a snapshot, and those before it that have no leaf; return its entry, not signed. Needs the lock of WireState."""
    for missing in _list_missing_snapshots().filter(sequence__lt=snapshot.sequence).iterator(BATCH):
        _append_leaf(missing)
    return _append_leaf(snapshot)


def append_missing_snapshots() -> int:
    """Append every snapshot that has no leaf yet: of a wire from before the log, or one that was restored. Return how many."""
    number = 0
    while True:
        with transaction.atomic():
            WireState.lock()
            rows = list(_list_missing_snapshots()[:BATCH])
            for snapshot in rows:
                _append_leaf(snapshot)
            number += len(rows)
        if len(rows) < BATCH:
            return number


def _list_missing_snapshots() -> QuerySet[Snapshot]:
    last = LogEntry.objects.order_by("-sequence").values_list("sequence", flat=True).first() or 0
    return Snapshot.objects.filter(sequence__gt=last).order_by("sequence")


def read_nodes(places: Iterable[merkle.Place]) -> dict[merkle.Place, bytes]:
    """Return the stored hashes at these places, leaves among them."""
    wanted = set(places)
    leaves = LogEntry.objects.filter(sequence__in=[index + 1 for level, index in wanted if level == 0])
    found = {(0, sequence - 1): bytes(leaf) for sequence, leaf in leaves.values_list("sequence", "leaf")}
    above = LogNode.objects.filter(level__in={level for level, _ in wanted}, position__in={index for _, index in wanted})
    rows = above.values_list("level", "position", "digest")
    return found | {(level, index): bytes(digest) for level, index, digest in rows if (level, index) in wanted}


def compute_step_hashes(steps: Sequence[Sequence[merkle.Place]]) -> list[bytes]:
    """Return the hash of each step of a proof. Raises: KeyError, with the place, for a node that is missing."""
    known = read_nodes(place for step in steps for place in step)
    return [merkle.join_subtrees(step, known.__getitem__) for step in steps]


def is_checkpoint_signed(entry: LogEntry, root: bytes) -> bool:
    """Return whether one of the wire's keys signed the checkpoint of this entry over `root`."""
    signed = ((entry.origin, bytes(entry.signature)),)
    checkpoint = signed_note.Checkpoint(entry.origin, entry.sequence, root, signed)
    keys = SigningKey.objects.values_list("public_key", flat=True)
    return any(signed_note.is_signed_by_log(checkpoint, base64.b64decode(key)) for key in keys)


def expect_consistent_tree(entry: LogEntry) -> None:
    """Prove that the tree of this entry begins with the one signed last, or is the tree of its leaves. Raises: WireError."""
    signed = LogEntry.objects.filter(sequence__lt=entry.sequence).exclude(origin="").order_by("-sequence").first()
    if signed is None:
        rows = LogEntry.objects.filter(sequence__lte=entry.sequence).order_by("sequence").values_list("leaf", flat=True)
        leaves = [bytes(leaf) for leaf in rows]
        if len(leaves) != entry.sequence or merkle.compute_root(leaves) != bytes(entry.root):
            raise WireError(f"The root of the log of {entry.sequence} snapshots does not match its leaves.", _REBUILD)
        return
    if not is_checkpoint_signed(signed, bytes(signed.root)):
        raise WireError(f"The log's last checkpoint, of {signed.sequence} snapshots, does not match its signature.", _REBUILD)
    try:
        proof = compute_step_hashes(merkle.list_consistency_steps(signed.sequence, entry.sequence))
    except KeyError as missing:
        raise _build_missing_node_error(missing) from missing
    if not merkle.is_consistent(signed.sequence, entry.sequence, proof, bytes(signed.root), bytes(entry.root)):
        raise WireError(
            f"The log of {entry.sequence} snapshots does not begin with the {signed.sequence} of the last signed checkpoint: its "
            "rows were damaged or changed.",
            _REBUILD,
        )


def recompute_leaves() -> Generator[Leaf, None, None]:
    """Yield every leaf as the snapshots have it, in order; reads no row of the log. Raises: Damaged for an unreadable snapshot."""
    known: dict[merkle.Place, bytes] = {}  # the perfect subtrees so far, one of each size at most
    with closing(one for one in Snapshot.objects.order_by("sequence").iterator(BATCH)) as snapshots:
        for snapshot in snapshots:
            leaf = _make_leaf(snapshot, known)
            for place in leaf.nodes:
                for child in merkle.get_children(place):
                    del known[child]
            yield leaf


def rebuild_log() -> tuple[int, int]:
    """Make leaves, nodes and roots again from the snapshots; return the number of leaves, and of checkpoints whose signature was
    none and is gone. Raises: WireError for one that was signed over other snapshots.
    """
    with transaction.atomic():
        WireState.lock()
        before = {entry.sequence: entry for entry in LogEntry.objects.all()}
        LogEntry.objects.all().delete()
        LogNode.objects.all().delete()
        leaves = unsigned = 0
        for leaf in recompute_leaves():
            old = before.get(leaf.sequence)
            origin, signature = "", b""
            if old and old.origin:
                if is_checkpoint_signed(old, leaf.root):
                    origin, signature = old.origin, bytes(old.signature)
                elif is_checkpoint_signed(old, bytes(old.root)):
                    raise WireError(
                        f"The checkpoint {old.sequence} was signed over snapshots that are no longer there. Nothing was changed.",
                        "Stop ingest and restore the last backup that verifies; the log cannot be rebuilt from these snapshots.",
                    )
                unsigned += not origin
            _store_leaf(leaf, origin, signature)
            leaves += 1
        WireState.raise_version()
        return leaves, unsigned


def _build_missing_node_error(error: KeyError) -> WireError:
    level, position = error.args[0]
    name = f"wire_lognode {level}/{position}" if level else f"wire_logentry {position + 1}"
    return WireError(f"The log is damaged: {name} is missing.", _REBUILD)


def _make_leaf(snapshot: Snapshot, known: dict[merkle.Place, bytes]) -> Leaf:
    """Return a snapshot's leaf from the `known` nodes before it, and add its own to them. Raises: KeyError, as `hashes`."""
    size, stories = snapshot.sequence, merkle.compute_root([hash_story_leaf(line) for line in snapshot.manifest["stories"]])
    value = describe_leaf(snapshot, stories).model_dump(mode="json")
    leaf = known[0, size - 1] = merkle.hash_leaf(canonicalize_json(value))
    completed = merkle.list_completed_subtrees(size)
    for place in completed:
        left, right = merkle.get_children(place)
        known[place] = merkle.hash_node(known[left], known[right])
    root = merkle.join_subtrees(merkle.get_subtrees(0, size), known.__getitem__)
    return Leaf(size, stories, leaf, root, {place: known[place] for place in completed})


def _store_leaf(leaf: Leaf, origin: str = "", signature: bytes = b"") -> LogEntry:
    rows = [LogNode(level=level, position=position, digest=digest) for (level, position), digest in leaf.nodes.items()]
    LogNode.objects.bulk_create(rows, ignore_conflicts=True)
    columns = {"stories_root": leaf.stories_root, "leaf": leaf.leaf, "root": leaf.root}
    return LogEntry.objects.create(sequence=leaf.sequence, **columns, origin=origin, signature=signature)


def _append_leaf(snapshot: Snapshot) -> LogEntry:
    completed = merkle.list_completed_subtrees(snapshot.sequence)
    wanted = {child for place in completed for child in merkle.get_children(place)} | set(merkle.get_subtrees(0, snapshot.sequence))
    try:
        return _store_leaf(_make_leaf(snapshot, read_nodes(wanted - {(0, snapshot.sequence - 1), *completed})))
    except KeyError as missing:
        raise _build_missing_node_error(missing) from missing
