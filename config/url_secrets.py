"""Secrets in web addresses: none may be entered with a password, and none is shown with the values of its parameters."""

import re
from typing import Final

_CREDENTIALS: Final = re.compile(r"\s*[a-z][a-z0-9+.-]*:[/\\]{2,}[^/?#]*@", re.I)  # browsers read a backslash as a slash
_START: Final = r"(?<![a-z0-9])([a-z][a-z0-9+.-]{0,30}:[/\\]{2,})([^\s/?#]*@)?"
_ALONE: Final = re.compile(rf"{_START}([^?#]*)(\?[^#]*)?(#.*)?", re.I | re.S)
_IN_TEXT: Final = re.compile(rf"{_START}([^\s?#\"<>]*)(\?[^\s#\"<>]*)?(#[^\s\"<>]*)?", re.I)
CREDENTIALS_REFUSED: Final = "An address with a user name or a password is refused, because addresses are public; remove both."


def has_credentials(address: str) -> bool:
    """Return whether an address holds a user name or a password (RFC 3986 §3.2.1). No address that is entered here may."""
    return _CREDENTIALS.match(address) is not None


def mask_address(address: str) -> str:
    """Return an address with scheme, host, path and names of parameters; values, which may be tokens, and users become `…`."""
    return _ALONE.sub(_mask_match, address)


def mask_addresses(text: str) -> str:
    return _IN_TEXT.sub(_mask_match, text)


def _mask_match(found: re.Match[str]) -> str:
    scheme, user, place, query, fragment = found.groups()
    names = [(name, equals, value) for name, equals, value in (pair.partition("=") for pair in (query or "?")[1:].split("&"))]
    shown = "&".join(f"{name}={value and '…'}" if equals else name and "…" for name, equals, value in names)
    return f"{scheme}{'…@' if user else ''}{place}{'?' if query else ''}{shown}{'#…' if fragment else ''}"
