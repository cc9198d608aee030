"""Which addresses are public."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.fetcher.http.addresses import is_listed, is_public

NOT_PUBLIC = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1
192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255 :: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:8.8.8.8
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b:1::808:808 64:ff9b:1::1 100::1 2001::1 2001:0:8.8.8.8::1
2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1 fd00::1
fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 2606:4700::1%1 localhost 127.1 0x7f.0.0.1 256.1.1.1
"""
PUBLIC = """
1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0 192.0.1.1
192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 ::ffff:8.8.8.8 64:ff9b::808:808 2001:200::1
2001:4860:4860::8888 2606:4700::1111 2a00:1450::1
"""


@pytest.mark.parametrize("address", NOT_PUBLIC.split())
def test_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC.split())
def test_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_as_public_as_its_inner_one(inner: object) -> None:
    number = int(ip_address(str(inner)))
    for wrapped in (f"::ffff:{inner}", str(ip_address((0x64FF9B << 96) + number))):
        assert is_public(wrapped) == is_public(str(inner))


@given(st.ip_addresses())
def test_what_the_standard_library_calls_private_is_never_public(address: object) -> None:
    ip = ip_address(str(address))
    inner = getattr(ip, "ipv4_mapped", None) or ip
    if inner.is_private or inner.is_multicast or inner.is_loopback or inner.is_link_local or inner.is_unspecified:
        assert not is_public(str(address))


def test_an_address_is_listed_in_all_its_forms() -> None:
    networks = (ip_network("127.0.0.0/8"), ip_network("fd00::/8"))
    assert is_listed("127.0.0.1", networks)
    assert is_listed("::ffff:127.0.0.1", networks)
    assert is_listed("fd12::1", networks)
    assert not is_listed("10.0.0.1", networks)
    assert not is_listed("fd12::1%eth0", networks)
    assert not is_listed("localhost", networks)
