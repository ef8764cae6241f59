"""Addresses of articles: the canonical form that identifies one, and the paths that a publisher leaves out."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from sources.fetch.url import WebAddress
from wire.text.identity import BadUrl, canonical_url

ROUNDS: Final = 8  # of decoding; no real address is escaped so often
_TWIN_HOST: Final = re.compile(r"^https?://(?:(?:www|m|mobile|amp)\.(?=[^/]+\.))?")
_TWIN_PATH: Final = re.compile(r"(?:/amp|/index\.(?:html?|php)|(?<=[^/])\.amp|/)$")
_AMP_PARAMETERS: Final = frozenset({"amp", "amp=1", "amp=true", "outputtype=amp"})
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
# A slash in too many bytes, which lenient decoders read; and an escape that only some servers know.
_ODD_ESCAPE: Final = re.compile(r"%c[01]|%e0%[89]|%f0%8|%u[0-9a-f]{4}", re.I)


def build_url_key(url: str) -> str:
    """Return the wire's canonical form of an address, else the address as it is asked. Raises: ValueError for no web address."""
    asked = str(WebAddress.parse(url))
    try:
        return canonical_url(url)
    except BadUrl:
        return asked.partition("#")[0]


def list_equivalent_keys(key: str) -> list[str]:
    """Return the keys under which sites often have the same article again: of www, mobile and AMP hosts, of AMP and index paths."""
    address, _, query = key.partition("?")
    host, slash, path = _TWIN_HOST.sub("", address).partition("/")
    path = _TWIN_PATH.sub("", re.sub("//+", "/", slash + path)) or "/"
    others = "&".join(part for part in query.split("&") if part.lower() not in _AMP_PARAMETERS)
    tail = f"?{others}" if others else ""
    prefixes = ("", "www.", "m.", "amp.")
    twins = [f"https://{prefix}{host}{path}{end}{tail}" for end in ("", "/index.html", "/amp") for prefix in prefixes]
    return [twin for twin in twins if twin != key]


def is_path_below(target: str, beginnings: Iterable[str]) -> bool:
    """Return whether a path may be below one of these, in any reading that a server may give it; True in doubt."""
    wanted = tuple(_fold_path(beginning.partition("?")[0]).rstrip("/") + "/" * beginning.endswith("/") for beginning in beginnings)
    if not wanted:
        return False
    path = target.partition("?")[0].partition("#")[0]
    for _ in range(ROUNDS):
        if _CONTROL.search(path) or _ODD_ESCAPE.search(path):
            return True
        # An escaped ? or # may be part of the path or its end, and dot segments may be resolved or not.
        readings = {path, re.split("[?#]", path, maxsplit=1)[0]}
        if any(_fold_path(text, resolves=resolves).startswith(wanted) for text in readings for resolves in (True, False)):
            return True
        if (decoded := unquote(path)) == path:
            return False
        path = decoded
    return True


def _fold_path(path: str, *, resolves: bool = True) -> str:
    """End in a slash; drop parameters, doubled slashes, dots at the end of a segment, and differences of case."""
    segments: list[str] = []
    for raw in unicodedata.normalize("NFKC", path).casefold().replace("\\", "/").split("/"):
        segment = raw.partition(";")[0].strip()
        if segment == ".." and resolves:
            del segments[-1:]
        elif stripped := segment.rstrip(". "):
            segments.append(stripped)
    return "".join(f"/{segment}" for segment in segments) + "/"
