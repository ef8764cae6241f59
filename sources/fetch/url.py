"""Web addresses, read once: what is checked is what is dialled and what is asked for. And IP addresses that may be dialled."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, NamedTuple, Self
from urllib.parse import quote, urljoin, urlsplit

import idna

from config.url_secrets import has_credentials

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network

# https://www.iana.org/assignments/iana-ipv4-special-registry: all that is not globally reachable, and multicast. Clouds serve
# their metadata in 169.254.0.0/16. Not `ipaddress.is_global`: Python 3.11 calls 224.0.0.1 and fec0::1 global.
_SPECIAL_4: Final = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
"""
_NOT_PUBLIC_4: Final = tuple(map(IPv4Network, _SPECIAL_4.split()))
# https://www.iana.org/assignments/ipv6-address-space: global unicast is 2000::/3 and nothing else is. Of it these are not public:
# protocol assignments (RFC 2928), documentation (RFC 3849, RFC 9637) and 6to4 (RFC 3056), an IPv4 address in disguise.
_GLOBAL_6: Final = IPv6Network("2000::/3")
_NOT_PUBLIC_6: Final = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052 §2.1: how a network with IPv6 only reaches an IPv4 address
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
            raise ValueError(f"it is empty, longer than {MAX_LENGTH} characters, or contains control characters")
        if has_credentials(raw):  # before any error that quotes the address
            raise ValueError("it contains a user name or a password")
        parts = urlsplit(raw)
        if parts.scheme not in _PORTS:
            raise ValueError("it is not an http or https address")
        host = parts.hostname or ""
        if ":" in host:
            host = str(IPv6Address(host if "%" not in host else ""))  # a zone names an interface of this machine
        else:
            host = host if host.isascii() else idna.encode(host, uts46=True).decode()
            host = host.lower().removesuffix(".")
            if len(host) > 253 or not _NAME.fullmatch(host):
                raise ValueError("its host is not a valid name")
        try:
            port = _PORTS[parts.scheme] if parts.port is None else parts.port
        except ValueError:  # whose text quotes what may be half of a password
            raise ValueError("its port is not a number up to 65535") from None
        if port == 0:
            raise ValueError("port 0 cannot be used")
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


def may_dial(address: IPAddress, allow: Iterable[IPNetwork] = ()) -> bool:
    """Return whether this address is public, or in a network that `allow` names in the same version and spelling."""
    if any(address in network for network in allow if network.version == address.version):
        return True
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    if address in _NAT64:
        return may_dial(IPv4Address(int(address) & 0xFFFF_FFFF))
    return address in _GLOBAL_6 and not any(address in network for network in _NOT_PUBLIC_6)
