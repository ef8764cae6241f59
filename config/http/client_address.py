"""The client's address: the one that a request is counted for, also behind proxies that the operator trusts."""

import ipaddress
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any, Final

from django.conf import settings

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LONGEST_CHAIN: Final = 512  # characters of X-Forwarded-For that are looked at, from its end: there the nearest proxy writes


def get_client_key(scope: MutableMapping[str, Any]) -> str:
    """Whom a request is counted for: an IPv4 address or an IPv6 /64. Without a peer address (a Unix socket) all are one client."""
    peer = (scope.get("client") or ("", 0))[0]
    if not settings.WIRE_TRUSTED_PROXIES:
        return _compute_client_key(peer, "")
    chain = b",".join([value for name, value in scope["headers"] if name == b"x-forwarded-for"])
    return _compute_client_key(peer, chain[-LONGEST_CHAIN:].decode("latin-1"))


@lru_cache(maxsize=10_000)
def _compute_client_key(peer: str, chain: str) -> str:
    """See `get_client_key`; `chain` is X-Forwarded-For, which only a trusted peer's word makes worth reading."""
    address = _parse_ip(peer)
    if address is None:
        return "unknown"
    address = _skip_trusted_proxies(address, chain)
    if address.version == 6:
        return str(ipaddress.IPv6Address(int(address) >> 64 << 64))
    return str(address)


@lru_cache(maxsize=10_000)
def get_client_network(client: str) -> str:
    """Return the larger network that a client of `get_client_key` lives in: an IPv4 /24 or an IPv6 /48, as one site is given."""
    address = _parse_ip(client)
    if address is None:
        return client
    return str(ipaddress.ip_network((address, 48 if address.version == 6 else 24), strict=False))


def _skip_trusted_proxies(address: _Address, chain: str) -> _Address:
    """Return the first address, from the nearest proxy outwards, that is not trusted. What cannot be read ends the walk."""
    links = chain.split(",") if chain else []
    while links and any(address in network for network in settings.WIRE_TRUSTED_PROXIES):
        host = links.pop().strip()
        if host.startswith("["):  # [2001:db8::1]:443
            host = host[1:].partition("]")[0]
        named = _parse_ip(host.partition(":")[0] if host.count(":") == 1 else host)
        if named is None:
            break
        address = named
    return address


def _parse_ip(host: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return (address.ipv4_mapped if address.version == 6 else None) or address
