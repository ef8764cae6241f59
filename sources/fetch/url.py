"""Web addresses, read once for all that follows: what is checked is what is dialled and what is asked for."""

import ipaddress
import re
from typing import Final, NamedTuple, Self
from urllib.parse import quote, urljoin, urlsplit

import idna

from config.url_secrets import has_credentials

MAX_LENGTH: Final = 4096
_PORTS: Final = {"http": 80, "https": 443}
_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_KEPT: Final = "%/:=&?~#+!$,;'@()*[]"  # the reserved characters of RFC 3986 §2.2, and escapes that are there already


class WebAddress(NamedTuple):
    """An http(s) address: the host in ASCII and lower case (an IPv6 address without brackets), the target percent-encoded."""

    scheme: str
    host: str
    port: int
    target: str

    @classmethod
    def parse(cls, raw: str) -> Self:
        """Raises: ValueError with the reason, also for other schemes and for credentials."""
        raw = raw.strip()
        if not raw or len(raw) > MAX_LENGTH or _CONTROL.search(raw):
            raise ValueError(f"it is empty, longer than {MAX_LENGTH} characters, or holds control characters")
        if has_credentials(raw):  # before any error that quotes the address
            raise ValueError("it holds a user name or a password")
        parts = urlsplit(raw)
        if parts.scheme not in _PORTS:
            raise ValueError("it is no http or https address")
        host = parts.hostname or ""
        if ":" in host:
            host = str(ipaddress.IPv6Address(host if "%" not in host else ""))  # a zone names an interface of this machine
        else:
            host = host if host.isascii() else idna.encode(host, uts46=True).decode()
            host = host.lower().removesuffix(".")
            if len(host) > 253 or not _NAME.fullmatch(host):
                raise ValueError("its host is no name")
        try:
            port = _PORTS[parts.scheme] if parts.port is None else parts.port
        except ValueError:  # whose text quotes what may be half of a password
            raise ValueError("its port is no number up to 65535") from None
        if port == 0:
            raise ValueError("port 0 is nobody's")
        path = _remove_dot_segments(quote(parts.path or "/", safe=_KEPT))
        target = path + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
        return cls(parts.scheme, host, port, target if target.startswith("/") else f"/{target}")

    def join(self, location: str) -> Self:
        """Return the address that a Location leads to from here (RFC 9110 §10.2.2). Raises: ValueError."""
        return self.parse(urljoin(str(self), location))

    @property
    def authority(self) -> str:
        """`host[:port]` as in a Host header, without the scheme's own port (RFC 9110 §7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def _remove_dot_segments(path: str) -> str:
    """Return the path as RFC 3986 §5.2.4 has it, with escaped dots, too: what robots.txt allows is what the server is asked for."""
    if "/." not in path and "/%2" not in path:
        return path
    segments: list[str] = []
    last = ""
    for segment in path.split("/")[1:]:
        last = segment.replace("%2e", ".").replace("%2E", ".")
        if last == "..":
            del segments[-1:]
        elif last != ".":
            segments.append(segment)
    return "/" + "/".join([*segments, ""] if last in {".", ".."} else segments)
