"""Keys that an installation hands to its clients: shown once, stored as a hash, sent as `Authorization: Bearer …` (RFC 6750)."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Final

LONGEST: Final = 200  # characters; a key of ours has 43 and its prefix


def generate_token(prefix: str) -> str:
    """Return a key of 256 random bits. `prefix` says in a log or a file what was found there."""
    return f"{prefix}_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> str:
    """Return SHA-256 in lower-case hex, as tables store it: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def get_bearer_token(headers: Mapping[bytes, bytes]) -> str | None:
    """The key in an ASGI request's headers; "" for an Authorization that holds none that could be ours, None without one."""
    sent = headers.get(b"authorization")
    return parse_bearer_token(None if sent is None else sent.decode("latin-1"))


def parse_bearer_token(sent: str | None) -> str | None:
    if sent is None:
        return None
    scheme, _, token = sent.strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.isascii() and len(token) <= LONGEST else ""
