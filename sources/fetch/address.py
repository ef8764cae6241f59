"""IP addresses that may be dialled: public unicast, and networks that the policy names. All others are somebody's inside."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

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
