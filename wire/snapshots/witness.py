"""Watching another wire's log: its checkpoint is signed only if it holds all that was seen before. Both may watch each other."""

import base64
from collections.abc import Callable
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils import timezone

from config.errors import UpstreamFailed
from wire.models import WireState, Witnessed
from wire.snapshots import log, merkle, notes, signing

CHECKPOINT: Final = "/.well-known/wire-checkpoint"
KEYS: Final = "/.well-known/wire-keys.json"

Get = Callable[[str], bytes]


def look(url: str, get: Get) -> Witnessed:
    """Look at the log of the wire at `url`, whose addresses `get` reads, and sign its checkpoint as this wire.

    What was seen last stays the measure when something is wrong; the fault is kept and published. Raises: UpstreamFailed for a wire
    that cannot be read, has another history than was seen, or signs with a key that it does not publish.
    """
    site = url.rstrip("/")
    try:
        note = get(f"{site}{CHECKPOINT}").decode()
        found = notes.parse(note)
        keys = [base64.b64decode(key["public_key"]) for key in orjson.loads(get(f"{site}{KEYS}"))["keys"]]
        known = Witnessed.objects.filter(origin=found.origin).first()
        path = _path(site, known, found, get)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UpstreamFailed(f"{site} cannot be read: {error!r}.", "Look whether it is a wire, and try again.") from error
    fault = _fault(known, found, keys, path)
    if fault:
        if known:
            known.fault = fault[:500]
            known.save(update_fields=["fault"])
        raise UpstreamFailed(fault, "Nothing was signed. Compare both checkpoints, and tell others.")
    return _signed(site, found, note, keys, known)


def _path(site: str, known: Witnessed | None, found: notes.Checkpoint, get: Get) -> list[bytes]:
    if known is None or not known.size < found.size:
        return []
    answer: dict[str, Any] = orjson.loads(get(f"{site}/api/log/consistency.json?first={known.size}&second={found.size}"))
    return [base64.b64decode(step, validate=True) for step in answer["path"]]


def _fault(known: Witnessed | None, found: notes.Checkpoint, keys: list[bytes], path: list[bytes]) -> str:
    """What is wrong with this checkpoint, in a sentence."""
    signers = [key for key in keys if notes.is_signed(found, key)]
    if not signers:
        return f"{found.origin}: the checkpoint is signed by none of its published keys."
    if known is None:
        return ""
    if base64.b64decode(known.public_key) not in keys:
        return f"{found.origin}: the key that it signed with before is published no longer."
    if found.size < known.size:
        return f"{found.origin}: it had {known.size} snapshots and has {found.size} now."
    if not merkle.is_consistent(known.size, found.size, path, bytes(known.root), found.root):
        return f"{found.origin}: its {found.size} snapshots do not begin with the {known.size} that were seen."
    return ""


def _signed(site: str, found: notes.Checkpoint, note: str, keys: list[bytes], known: Witnessed | None) -> Witnessed:
    signer = next(key for key in keys if notes.is_signed(found, key))
    now = timezone.now().replace(microsecond=0)
    cosigned = note.rstrip("\n") + "\n" + signing.cosign(found, log.origin(), int(now.timestamp()))
    values = {
        "url": site,
        "public_key": base64.b64encode(signer).decode(),
        "size": found.size,
        "root": found.root,
        "note": cosigned,
        "seen_at": now,
        "fault": "",
    }
    with transaction.atomic():
        WireState.lock()
        row, _ = Witnessed.objects.update_or_create(origin=found.origin, defaults=values)
        if known is None or known.size != found.size:
            WireState.raise_version()
    return row
