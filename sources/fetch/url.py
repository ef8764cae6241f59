"""One reading of a web address, for all that follows: what is checked is what is dialled and what is asked for."""

import ipaddress
import re
from typing import Final, NamedTuple, Self
from urllib.parse import quote, urljoin, urlsplit

import idna

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
        parts = urlsplit(raw)
        if parts.scheme not in _PORTS:
            raise ValueError("it is no http or https address")
        if "@" in parts.netloc:
            raise ValueError("it holds a user name or a password")
        host = _host(parts.hostname or "")
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
        if port == 0:
            raise ValueError("port 0 is nobody's")
        path = _without_dots(quote(parts.path or "/", safe=_KEPT))
        target = path + (f"?{quote(parts.query, safe=_KEPT)}" if parts.query else "")
        return cls(parts.scheme, host, port, target if target.startswith("/") else f"/{target}")

    def join(self, location: str) -> Self:
        """Where a Location leads from here (RFC 9110 §10.2.2). Raises: ValueError."""
        return self.parse(urljoin(str(self), location))

    @property
    def authority(self) -> str:
        """`host[:port]` as in a Host header, without the scheme's own port (RFC 9110 §7.2)."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def _without_dots(path: str) -> str:
    """Without dot segments (RFC 3986 §5.2.4), escaped ones among them: what robots.txt allows is what the server is asked for."""
    if "/." not in path and "/%2" not in path:
        return path
    kept: list[str] = []
    *segments, last = path.split("/")[1:]
    for segment in segments:
        told = segment.replace("%2e", ".").replace("%2E", ".")
        if told == "..":
            del kept[-1:]
        elif told != ".":
            kept.append(segment)
    told = last.replace("%2e", ".").replace("%2E", ".")
    if told == "..":
        del kept[-1:]
    return "/" + "/".join([*kept, "" if told in {".", ".."} else last])


def _host(host: str) -> str:
    if ":" in host:
        return str(ipaddress.IPv6Address(host if "%" not in host else ""))  # a zone names an interface of this machine
    if not host.isascii():
        host = idna.encode(host, uts46=True).decode()
    host = host.lower().removesuffix(".")
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise ValueError("its host is no name")
    return host
