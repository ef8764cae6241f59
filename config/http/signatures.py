"""HTTP message signatures (RFC 9421) of answers, by a key of their own: who holds one can show which wire gave it, and when.

What is signed depends on the address alone, so that an answer is signed once, when it is made, and given to all who ask in the
same words. That is why the host is not covered: the wire is asked by several names, and the key says whose answer it is.
"""

import base64
import datetime as dt
import re
from collections.abc import Iterable
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Final

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config import ed25519, keyring
from config.http.request_guard import Headers

TAG: Final = "chatbotnews-answer"
"""Nothing else that this key signs, should there ever be something, can be taken for an answer."""
PURPOSE: Final = f'HTTP message signatures (RFC 9421) of answers, with tag="{TAG}"'
LABEL: Final = "wire"
SIGNED: Final = re.compile(r"/api/(today|archive/[0-9]{4}-[0-9]{2}-[0-9]{2})\.json")
"""Paths that are written in one way only: none of their characters is ever escaped in a path's normal form."""
HEADERS: Final = (b"signature-input", b"signature")
_COVERED: Final = ("content-digest", "content-type", "content-encoding")


def are_for(path: str) -> bool:
    """Tell whether answers of this address are signed."""
    return SIGNED.fullmatch(path) is not None and settings.WIRE_SIGN_ANSWERS  # which takes longer to read than the path


def of_answer(status: int, headers: Headers, path: str, query: bytes, made_at: float) -> list[tuple[bytes, bytes]]:
    """The two headers that sign an answer to a GET of this path, with its query as it was sent."""
    fields = dict(headers)
    components = [
        ('"@status"', str(status)),
        *((f'"{name}"', fields[name.encode()].decode("latin-1").strip()) for name in _COVERED if name.encode() in fields),
        ('"@path";req', path),
        ('"@query";req', f"?{query.decode('latin-1')}"),  # of an address without a query it is "?" (2.2.7)
    ]
    private = key(key_file())
    parameters = f'created={int(made_at)};keyid="{ed25519.key_id(private)}";alg="ed25519";tag="{TAG}"'
    described = f"({' '.join(name for name, _ in components)});{parameters}"
    signature = base64.b64encode(private.sign(base(components, described))).decode()
    values = (f"{LABEL}={described}", f"{LABEL}=:{signature}:")
    return [(name, value.encode("latin-1")) for name, value in zip(HEADERS, values, strict=True)]


def base(components: Iterable[tuple[str, str]], described: str) -> bytes:
    """The signature base (2.5): a line for each component's identifier and value, and last the parameters of the signature."""
    return "\n".join(f"{name}: {value}" for name, value in (*components, ('"@signature-params"', described))).encode("latin-1")


def key_file() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys" / "answers.pem"


@lru_cache(maxsize=4)
def key(file: Path) -> Ed25519PrivateKey:
    """The key that signs answers; read once in a process, and its public half put beside it. Raises: ImproperlyConfigured."""
    try:
        private = ed25519.load_or_create_key(file)
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise ImproperlyConfigured(
            f"The key of answers {file} cannot be read: {error}. Put it right, or move it away and a new one is made."
        ) from error
    keyring.load_or_create(file.with_name(f"{file.stem}-{ed25519.key_id(private)}.json"), partial(_public_half, private))
    return private


def public_keys() -> list[dict[str, str]]:
    """List the keys that signed answers, oldest first; each signed until the next was made. Raises: ImproperlyConfigured."""
    file = key_file()
    key(file)
    known = [orjson.loads(one.read_bytes()) for one in file.parent.glob(f"{file.stem}-*.json")]
    return sorted(known, key=itemgetter("created_at", "key_id"))


def _public_half(private: Ed25519PrivateKey) -> bytes:
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    known = {"key_id": ed25519.key_id(private), "public_key": ed25519.public_key(private), "created_at": now}
    return orjson.dumps(known)
