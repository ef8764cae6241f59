"""Watching another wire's log: its checkpoint is signed only if it holds all that was seen before. Both may watch each other."""

import base64
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import orjson
from django.db import transaction
from django.utils import timezone

from config.errors import UpstreamFailed
from wire.models import WireState, Witnessed
from wire.publishing import signing
from wire.publishing.transparency import log, merkle, signed_note

CHECKPOINT: Final = "/.well-known/wire-checkpoint"
KEYS: Final = "/.well-known/wire-keys.json"
ATTEMPTS: Final = 5  # while other runs sign something newer
_UNREAD: Final = "Check that it is a wire, and try again. Only public addresses are read; WIRE_FETCH_ALLOW opens loopback."

Get = Callable[[str], bytes]


class Served(NamedTuple):
    """Answers of a wire about its log: the checkpoint, its keys, and the proof that it goes on from the last."""

    note: str
    checkpoint: signed_note.Checkpoint
    keys: list[bytes]
    path: list[bytes]


def witness_log(url: str, get: Get) -> Witnessed:
    """Look at the log of the wire at `url`, whose addresses `get` reads, and sign its checkpoint as this wire. A fault is kept and
    published. Raises: UpstreamFailed for a wire that cannot be read, or is not what was seen.
    """
    site = url.rstrip("/")
    names = _list_origins(site)
    for _attempt in range(ATTEMPTS):
        known = Witnessed.objects.filter(origin__in=names).first()
        found = _read_remote_log(site, known, get)
        with transaction.atomic():
            WireState.lock()  # one signs at a time, and what it compares with is what the last one signed
            now = Witnessed.objects.filter(origin__in=names).first()
            if _read_state(now) != _read_state(known):
                continue  # another run signed a checkpoint of this log meanwhile
            fault = _find_fault(names, known, found)
            if not fault:
                return _store_cosigned(site, found, known)
            if known:
                known.fault = fault[:500]
                known.save(update_fields=["fault"])
        raise UpstreamFailed(
            fault,
            "Nothing was signed. Compare the log's checkpoint with the one signed here, and warn others who rely on this log.",
        )
    raise UpstreamFailed(f"{names[0]}: other runs kept signing newer checkpoints.", "This run signed nothing; run it again later.")


def _list_origins(site: str) -> list[str]:
    """Return the name that the log at this address has to bear: the address without its scheme. This machine has several names."""
    parts = urlsplit(site)
    hosts = [parts.netloc.lower()]
    if parts.hostname in {"localhost", "127.0.0.1", "::1"}:
        _name, colon, port = hosts[0].rpartition(":")
        hosts += [f"{host}{colon}{port}" for host in ("localhost", "127.0.0.1", "[::1]")]
    return [f"{host}{parts.path}".rstrip("/") for host in dict.fromkeys(hosts)]


def _read_remote_log(site: str, known: Witnessed | None, get: Get) -> Served:
    try:
        note = get(f"{site}{CHECKPOINT}").decode()
        found = signed_note.parse_checkpoint(note)
        keys = [base64.b64decode(key["public_key"]) for key in orjson.loads(get(f"{site}{KEYS}"))["keys"]]
        path = []
        if known and known.origin == found.origin and known.size < found.size:
            answer = orjson.loads(get(f"{site}/api/log/consistency.json?first={known.size}&second={found.size}"))
            path = [base64.b64decode(step, validate=True) for step in answer["path"]]
        return Served(note, found, keys, path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise UpstreamFailed(f"{site} cannot be read: {error}.", _UNREAD) from error


def _read_state(row: Witnessed | None) -> tuple[int, bytes, str] | None:
    return (row.size, bytes(row.root), row.public_key) if row else None


def _find_fault(names: list[str], known: Witnessed | None, served: Served) -> str:
    found, keys, origin = served.checkpoint, served.keys, served.checkpoint.origin
    if origin not in names or (known is not None and known.origin != origin):
        return f"{names[0]}: the checkpoint at this address is of the log {origin}, so it is another wire's."
    if not any(signed_note.is_signed_by_log(found, key) for key in keys):
        return f"{origin}: the checkpoint is signed by none of its published keys."
    if known is None:
        return ""
    if base64.b64decode(known.public_key) not in keys:
        return f"{origin}: the key that it used to sign with is no longer published."
    if found.size < known.size:
        return f"{origin}: it had {known.size} snapshots and has {found.size} now."
    if not merkle.is_consistent(known.size, found.size, served.path, bytes(known.root), found.root):
        return f"{origin}: its {found.size} snapshots do not begin with the {known.size} that were seen."
    return ""


def _store_cosigned(site: str, served: Served, known: Witnessed | None) -> Witnessed:
    """Needs the lock of WireState."""
    found, now = served.checkpoint, timezone.now().replace(microsecond=0)
    values = {
        "url": site,
        "public_key": base64.b64encode(next(key for key in served.keys if signed_note.is_signed_by_log(found, key))).decode(),
        "size": found.size,
        "root": found.root,
        "note": served.note.rstrip("\n") + "\n" + signing.cosign_checkpoint(found, log.get_origin(), int(now.timestamp())),
        "seen_at": now,
        "fault": "",
    }
    row, _ = Witnessed.objects.update_or_create(origin=found.origin, defaults=values)
    if known is None or known.size != found.size:
        WireState.raise_version()
    return row
