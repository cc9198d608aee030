"""Which IP addresses the fetcher may connect to."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Network = IPv4Network | IPv6Network

# The standard library's own lists change between releases of Python, and call some of these global.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider; also metadata at one cloud
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # the host of an Azure machine
        "169.254.0.0/16",  # link-local, metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments, metadata at one cloud
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_UNICAST_6 = IPv6Network("2000::/3")  # All else is special: ::, ::1, fc00::/7, fe80::/10, fec0::/10, ff00::/8, ...
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which wraps any IPv4 address
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")


def is_public(address: str) -> bool:
    """Whether the address belongs to the public internet. False for what is no IP address, or has a zone."""
    ip = _reached(address)
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _NOT_PUBLIC_4)
    return ip is not None and ip in _UNICAST_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def is_listed(address: str, networks: Iterable[Network]) -> bool:
    """Whether the address lies in one of the networks. False for what is no IP address, or has a zone."""
    ip = _reached(address)
    return ip is not None and any(ip in network for network in networks)


def _reached(address: str) -> IPv4Address | IPv6Address | None:
    """The address that a connection ends at: the inner one of an IPv4-mapped or a NAT64 address."""
    try:
        ip = ip_address(address)
    except ValueError:
        return None
    if isinstance(ip, IPv4Address):
        return ip
    if ip.scope_id is not None:
        return None
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return IPv4Address(int(ip) & 0xFFFF_FFFF) if ip in _NAT64 else ip
