"""Ed25519 signatures of snapshots, and the newest links of the chain. The private key is a file only its owner reads."""

import base64
import datetime as dt
import os
import secrets
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config import key_files
from config.errors import Damaged, WireError
from wire.models import LogEntry, SigningKey, Snapshot, WireState
from wire.publishing.transparency import log, signed_note
from wire.publishing.transparency.signed_note import COSIGNATURE, Checkpoint, build_cosigned_text, compute_key_id, format_signature
from wire.text import provenance_manifest

LINKS: Final = 10  # newest snapshots that are looked at; `wire.ops.archive.verify` looks at all


def sign_hash(wire_sha256: str) -> tuple[str, SigningKey]:
    """Return the signature (base64) over the 64 ASCII hex digits, and its public key. Raises: WireError for a retired key."""
    private = _load_private_key()
    key = _store_key(private)
    if key.retired_at:
        raise WireError(
            f"{key_file()} holds the key {key.key_id}, which was retired on {key.retired_at:%Y-%m-%d}. Nothing was signed.",
            "Restore the key in force there, or make a new one with manage.py rotatekey.",
        )
    return base64.b64encode(private.sign(wire_sha256.encode())).decode(), key


def sign_checkpoint(entry: LogEntry) -> None:
    """Sign the checkpoint of the log whose last leaf this is, once it is proved to begin with the last one. Raises: WireError."""
    log.expect_consistent_tree(entry)
    private = _load_private_key()
    entry.origin = log.get_origin()
    text = Checkpoint(entry.origin, entry.sequence, bytes(entry.root)).text
    entry.signature = compute_key_id(entry.origin, private.public_key().public_bytes_raw()) + private.sign(text.encode())
    entry.save(update_fields=["origin", "signature"])


def sign_newest_checkpoint() -> None:
    """Sign the newest checkpoint if nobody did, on a machine that has the key in force; another leaves it to the next publish."""
    entry = LogEntry.objects.order_by("-sequence").first()
    if entry is not None and not entry.origin and holds_key_in_force():
        sign_checkpoint(entry)


def holds_key_in_force() -> bool:
    """Return whether this machine holds the key in force, so that it signs checkpoints."""
    try:
        return SigningKey.objects.filter(pk=get_key_in_force(), retired_at=None).exists()
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm):
        return False


def cosign_checkpoint(checkpoint: Checkpoint, name: str, timestamp: int) -> str:
    """Return the line by which this wire says that it saw that checkpoint at that time (seconds since 1970). Raises: WireError."""
    private = _load_private_key()
    _store_key(private)
    signature = timestamp.to_bytes(8, "big") + private.sign(build_cosigned_text(checkpoint, timestamp))
    return format_signature(name, compute_key_id(name, private.public_key().public_bytes_raw(), COSIGNATURE), signature)


def rotate_key(now: dt.datetime | None = None) -> SigningKey:
    """Put a new key in force; the old private key is gone, its public one stays published as retired."""
    # Killed before the commit, the new key is published by whoever signs next.
    draft = key_file().with_name(f".{key_file().name}.{secrets.token_hex(4)}")
    try:
        with transaction.atomic():
            WireState.lock()
            now = _find_signing_time(now)
            SigningKey.objects.filter(retired_at=None).update(retired_at=now)
            key = _store_key(key_files.load_or_create_key(draft), now)
            WireState.raise_version()
            os.replace(draft, key_file())
    finally:
        draft.unlink(missing_ok=True)
    return key


def get_key_in_force() -> str | None:
    """Return the id of the key in the key file, or None without a file. Raises: OSError, TypeError, ValueError for no such key."""
    return key_files.compute_key_id(key_files.read_key(key_file())) if key_file().exists() else None


def is_valid_signature(signature: str, wire_sha256: str, public_key: str) -> bool:
    """Return whether `signature` over `wire_sha256` was made by `public_key` (both base64)."""
    try:
        key, made = (base64.b64decode(text, validate=True) for text in (public_key, signature))
    except ValueError:
        return False
    return signed_note.is_valid_signature(key, made, wire_sha256.encode())


def _load_private_key() -> Ed25519PrivateKey:
    """Return the key in the file; made for the first signature of all. Raises: WireError for one that is gone or unreadable."""
    if not key_file().exists() and (key := SigningKey.objects.filter(retired_at=None).last()):
        raise WireError(
            f"The signing key is gone: there is no {key_file()}, and {key.key_id} is in force. Nothing was signed or published.",
            "Put the file back from a backup; without one, run manage.py rotatekey. What waits is published then.",
        )
    try:
        return key_files.load_or_create_key(key_file())
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise WireError(
            f"The signing key {key_file()} cannot be read: {error}. Nothing was signed or published.",
            "Put the file back from a backup, readable for the wire's user alone. What waits is published then.",
        ) from error


def _store_key(private: Ed25519PrivateKey, now: dt.datetime | None = None) -> SigningKey:
    known = {"public_key": key_files.encode_public_key(private), "created_at": partial(_find_signing_time, now)}
    return SigningKey.objects.get_or_create(key_id=key_files.compute_key_id(private), defaults=known)[0]


def _find_signing_time(now: dt.datetime | None) -> dt.datetime:
    """Return the time to the second, never before what was signed or made by a clock that was ahead: that would look forged."""
    made = SigningKey.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    signed = Snapshot.objects.order_by("-sequence").values_list("generated_at", flat=True).first()
    return max(filter(None, ((now or timezone.now()).replace(microsecond=0), made, signed)))


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "ed25519.pem"


def list_chain_faults() -> Iterator[str]:
    """Yield a sentence for each of the newest snapshots that is not as it was signed, newest first."""
    newest = list(Snapshot.objects.select_related("key").order_by("-sequence")[: LINKS + 1])
    for snapshot, before in pairwise([*newest, None]):
        if snapshot is None or (before is None and len(newest) > LINKS):
            continue  # the last one is only there to be linked to
        if fault := _describe_chain_fault(snapshot, before):
            yield f"Snapshot {snapshot}: {fault}."


def _describe_chain_fault(snapshot: Snapshot, before: Snapshot | None) -> str:
    try:
        canonical = snapshot.canonical
    except Damaged as error:
        return f"its bytes cannot be read, so its hash is unverified ({error.__cause__})"
    if provenance_manifest.sha256(canonical) != snapshot.wire_sha256:
        return "its bytes do not match its hash"
    if not is_valid_signature(snapshot.signature, snapshot.wire_sha256, snapshot.key.public_key):
        return f"its signature does not match key {snapshot.key_id}"
    if snapshot.key.retired_at and snapshot.generated_at > snapshot.key.retired_at:
        return f"its key {snapshot.key_id} was retired before it was made"
    if {snapshot.previous_sha256, snapshot.manifest["previous_sha256"]} != {before.wire_sha256 if before else None}:
        return "it does not link to the snapshot before"
    return ""
