"""Ed25519 signatures of snapshots. The private key is a file only its owner reads; public keys are in the database."""

import base64
import datetime as dt
import os
import secrets
from functools import partial
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config import ed25519
from config.errors import WireError
from wire.models import LogEntry, SigningKey, Snapshot, WireState
from wire.publishing.transparency import log
from wire.publishing.transparency.signed_note import COSIGNATURE, Checkpoint, cosigned_text, key_id, line


def sign(wire_sha256: str) -> tuple[str, SigningKey]:
    """Return the signature (base64) over the 64 ASCII hex digits, and the public key it verifies with.

    Raises: WireError for a key that was retired: whoever finds such a signature must be able to call it forged.
    """
    private = _private_key()
    key = _store_key(private)
    if key.retired_at:
        raise WireError(
            f"{key_file()} holds the key {key.key_id}, which was retired on {key.retired_at:%Y-%m-%d}. Nothing was signed.",
            "Put the key in force there, or make a new one with manage.py rotatekey.",
        )
    return base64.b64encode(private.sign(wire_sha256.encode())).decode(), key


def sign_checkpoint(entry: LogEntry) -> None:
    """Sign the checkpoint of the log whose last leaf this is, with the key in force, once it is proved to begin with the last one.

    Raises: WireError, as `sign` does, and for a log that is damaged.
    """
    log.expect_consistent(entry)
    private = _private_key()
    entry.origin = log.origin()
    text = Checkpoint(entry.origin, entry.sequence, bytes(entry.root)).text
    entry.signature = key_id(entry.origin, private.public_key().public_bytes_raw()) + private.sign(text.encode())
    entry.save(update_fields=["origin", "signature"])


def sign_newest() -> None:
    """Sign the newest checkpoint if nobody did, on a machine that has the key in force; another leaves it to the next publish."""
    entry = LogEntry.objects.order_by("-sequence").first()
    if entry is None or entry.origin:
        return
    try:
        key = key_in_force()
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm):
        return
    if key is not None and SigningKey.objects.filter(pk=key, retired_at=None).exists():
        sign_checkpoint(entry)


def cosign(checkpoint: Checkpoint, name: str, timestamp: int) -> str:
    """Return the line by which this wire says that it saw that checkpoint at that time (seconds since 1970). Raises: WireError."""
    private = _private_key()
    _store_key(private)
    signature = timestamp.to_bytes(8, "big") + private.sign(cosigned_text(checkpoint, timestamp))
    return line(name, key_id(name, private.public_key().public_bytes_raw(), COSIGNATURE), signature)


def rotate(now: dt.datetime | None = None) -> SigningKey:
    """Put a new key in force; the old private key is gone, its public one stays published as retired."""
    # Killed before the commit, the new key is published by whoever signs next.
    draft = key_file().with_name(f".{key_file().name}.{secrets.token_hex(4)}")
    try:
        with transaction.atomic():
            WireState.lock()
            now = _find_time(now)
            SigningKey.objects.filter(retired_at=None).update(retired_at=now)
            key = _store_key(ed25519.load_or_create_key(draft), now)
            WireState.raise_version()
            os.replace(draft, key_file())
    finally:
        draft.unlink(missing_ok=True)
    return key


def key_in_force() -> str | None:
    """Return the id of the key in the key file, or None without a file. Raises: OSError, TypeError, ValueError for no such key."""
    return ed25519.key_id(ed25519.read(key_file())) if key_file().exists() else None


def is_valid(signature: str, wire_sha256: str, public_key: str) -> bool:
    """Return whether `signature` over `wire_sha256` was made by `public_key` (both base64)."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), wire_sha256.encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _private_key() -> Ed25519PrivateKey:
    """Return the key in the file; made for the first signature of all. Raises: WireError for one that is gone or unreadable."""
    if not key_file().exists() and (key := SigningKey.objects.filter(retired_at=None).last()):
        raise WireError(
            f"The signing key is gone: there is no {key_file()}, and {key.key_id} is in force. Nothing was signed or published.",
            "Put the file back from a backup; without one, run manage.py rotatekey. What waits is published then.",
        )
    try:
        return ed25519.load_or_create_key(key_file())
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise WireError(
            f"The signing key {key_file()} cannot be read: {error}. Nothing was signed or published.",
            "Put the file back from a backup, readable for the wire's user alone. What waits is published then.",
        ) from error


def _store_key(private: Ed25519PrivateKey, now: dt.datetime | None = None) -> SigningKey:
    known = {"public_key": ed25519.public_key(private), "created_at": partial(_find_time, now)}
    return SigningKey.objects.get_or_create(key_id=ed25519.key_id(private), defaults=known)[0]


def _find_time(now: dt.datetime | None) -> dt.datetime:
    """Return the time to the second, never before what was signed or made by a clock that was ahead: that would look forged."""
    made = SigningKey.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    signed = Snapshot.objects.order_by("-sequence").values_list("generated_at", flat=True).first()
    return max(filter(None, ((now or timezone.now()).replace(microsecond=0), made, signed)))


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "ed25519.pem"
