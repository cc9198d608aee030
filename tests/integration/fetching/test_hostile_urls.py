"""No connection is opened to an address that is not public, seen at the socket."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpcore
import pytest

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.fetcher.http.backend import CheckedBackend
from services.fetcher.http.fetching import DirectFetcher
from services.fetcher.http.settings import FetchSettings
from tests.support.web import WebServer, in_turn, page, redirect

from .conftest import Network

PUBLIC = "93.184.216.34"
PUBLIC_PLACE = (PUBLIC, 80)

# Names that lead to bad places, all their answers at once.
NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "sub.localhost": ["127.0.0.1"],
    "127.0.0.1.names.example": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "private.example": ["10.1.2.3"],
    "mixed.example": [PUBLIC, "192.168.0.10"],
    "mixed6.example": [PUBLIC, "::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "nat64.example": ["64:ff9b::7f00:1"],
    "ula.example": ["fd00:ec2::254"],
    "link6.example": ["fe80::1"],
    "zero.example": ["0.1.2.3"],
    "xn--0.example": ["127.0.0.1"],
}

# Addresses that are URLs in good order, but lead to a place that is not public.
REFUSED = r"""
http://127.0.0.1/                         http://127.0.0.1:8080/admin            https://127.0.0.1/
http://127.1/                             http://127.255.255.254/                http://0.0.0.0/
http://0/                                 http://10.0.0.1/                       http://172.16.0.1/
http://172.31.255.255/                    http://192.168.1.1/                    http://100.64.0.1/
http://169.254.169.254/latest/meta-data/  http://169.254.170.2/v2/credentials    http://100.100.100.200/latest/
http://168.63.129.16/                     http://192.0.0.192/opc/v2/             http://198.18.0.1/
http://192.0.2.1/                         http://224.0.0.1/                      http://255.255.255.255/
http://240.0.0.1/                         http://2130706433/                     http://017700000001/
http://0x7f000001/                        http://0177.0.0.1/                     http://0x7f.0x0.0x0.0x1/
http://0x7F.1/                            http://2852039166/                     http://0xA9FEA9FE/
http://0251.0376.0251.0376/               http://169.254.43518/                  http://127.0.0.1./
http://%31%32%37.0.0.1/                   http://１２７.０.０.１/                http://①②⑦.0.0.1/
http://127。0。0。1/                      http://[::]/                           http://[::1]/
http://[0:0:0:0:0:0:0:1]:8080/            http://[::127.0.0.1]/                  http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/                   http://[::ffff:a9fe:a9fe]/             http://[::ffff:0:127.0.0.1]/
http://[64:ff9b::7f00:1]/                 http://[64:ff9b::169.254.169.254]/     http://[64:ff9b:1::7f00:1]/
http://[2002:7f00:1::]/                   http://[2001:0:7f00:1::]/              http://[2001:db8::1]/
http://[fc00::1]/                         http://[fd00:ec2::254]/latest/         http://[fe80::1]/
http://[fec0::1]/                         http://[ff02::1]/                      http://[100::1]/
http://localhost/                         http://LOCALHOST:8080/                 http://sub.localhost/
http://localhost./                        http://127.0.0.1.names.example/        http://metadata.google.internal/
http://private.example/                   http://mixed.example/                  http://mixed6.example/
http://mapped.example/                    http://nat64.example/                  http://ula.example/
http://link6.example/                     http://zero.example/                   http://xn--0.example/
http://public.example:22/                 http://public.example:25/              http://public.example:6379/
http://public.example:5432/               http://public.example:9200/            http://93.184.216.34:11211/
http://public.example:8081/               http://127.0.0.1\@public.example/       http://127.0.0.1#@public.example/
http://127.0.0.1?@public.example/         http://[::ffff:10.0.0.1]/              http://[3fff::1]/
"""

INVALID = """
http://user@127.0.0.1/                    http://public.example@127.0.0.1/       http://public.example:80@127.0.0.1/
http://127.0.0.1@public.example/          http://user:secret@public.example/     http://[fe80::1%25eth0]/
http://[::1%lo]/                          http://public.example:0/               http://public.example:99999/
http://256.256.256.256/                   http://127.0.0.0x100/                  http://1.2.3.4.5/
http://[::1                               http://%00127.0.0.1/                   http://127.0.0.1%0a/
file:///etc/passwd                        file://localhost/etc/passwd            ftp://127.0.0.1/
gopher://127.0.0.1:6379/_INFO             dict://127.0.0.1:11211/stats           ldap://127.0.0.1/
unix:///var/run/docker.sock               jar:http://127.0.0.1!/                 data:text/html,hello
javascript:alert(1)                       ws://127.0.0.1/                        http:127.0.0.1
"""

HOSTILE = [(url, Code.URL_REFUSED) for url in REFUSED.split()] + [(url, Code.URL_INVALID) for url in INVALID.split()]
# What is relative when it stands in a Location header leads back to its own host.
REDIRECTED = [(url, code) for url, code in HOSTILE if url.isascii() and url != "http:127.0.0.1"]


@pytest.fixture
async def careful() -> AsyncIterator[DirectFetcher]:
    """A fetcher with the settings that an installation has."""
    async with DirectFetcher(FetchSettings(host_delay_seconds=0, robots=False)) as made:
        yield made


@pytest.fixture
async def public(network: Network, web: WebServer) -> WebServer:
    """A server that is public.example, and names that lead elsewhere."""
    network.routes[PUBLIC_PLACE] = web.port
    network.names.update({name: [answer] for name, answer in NAMES.items()}, **{"public.example": [[PUBLIC]]})
    web.at("/", page("public"))
    return web


def test_the_table_is_long_enough() -> None:
    assert len({url for url, _ in HOSTILE}) == len(HOSTILE) >= 40


@pytest.mark.parametrize(("url", "code"), HOSTILE)
async def test_no_connection_is_opened(
    careful: DirectFetcher, network: Network, public: WebServer, url: str, code: Code
) -> None:
    with pytest.raises(SourceRefused) as refused:
        await careful.fetch(url)
    assert refused.value.code == code
    assert network.connections == []


@pytest.mark.parametrize(("url", "code"), REDIRECTED)
async def test_no_redirect_leads_there(
    careful: DirectFetcher, network: Network, public: WebServer, url: str, code: Code
) -> None:
    public.at("/", redirect(url))
    with pytest.raises(SourceRefused) as refused:
        await careful.fetch("http://public.example/")
    assert refused.value.code == code
    assert network.connections == [PUBLIC_PLACE]


@pytest.mark.parametrize("rest", ["/", "/?@127.0.0.1", "/#@127.0.0.1", "\\@127.0.0.1:25/", "/@127.0.0.1:25/", "./"])
async def test_the_public_place_is_reached(
    careful: DirectFetcher, network: Network, public: WebServer, rest: str
) -> None:
    public.at("/@127.0.0.1:25/", page("public"))
    await careful.fetch(f"http://public.example{rest}")
    assert network.connections == [PUBLIC_PLACE]


async def test_a_second_answer_of_the_resolver_is_not_asked_for(
    careful: DirectFetcher, network: Network, public: WebServer
) -> None:
    network.names["rebinding.example"] = [[PUBLIC], ["127.0.0.1"]]
    await careful.fetch("http://rebinding.example/")
    assert network.lookups == ["rebinding.example"]
    assert network.connections == [PUBLIC_PLACE]


async def test_a_changed_answer_is_checked_again(careful: DirectFetcher, network: Network, public: WebServer) -> None:
    network.names["rebinding.example"] = [[PUBLIC], ["127.0.0.1"]]
    public.at("/", in_turn(redirect("/again")))
    with pytest.raises(SourceRefused) as refused:
        await careful.fetch("http://rebinding.example/")
    assert refused.value.code == Code.URL_REFUSED
    assert network.lookups == ["rebinding.example"] * 2
    assert network.connections == [PUBLIC_PLACE]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_each_redirect_of_several_is_checked(
    careful: DirectFetcher, network: Network, public: WebServer, code: int
) -> None:
    public.at("/", redirect("//public.example/second", code))
    public.at("/second", redirect("http://metadata.google.internal/", code))
    with pytest.raises(SourceRefused) as refused:
        await careful.fetch("http://public.example/")
    assert refused.value.code == Code.URL_REFUSED
    assert network.connections == [PUBLIC_PLACE] * 2


async def test_an_allowed_network_opens_nothing_else(network: Network, public: WebServer) -> None:
    network.names["half.example"] = [["10.0.0.1", "192.168.0.1"]]
    async with DirectFetcher(FetchSettings(allow_networks="10.0.0.0/8", host_delay_seconds=0, robots=False)) as careful:
        for url in ("http://half.example/", "http://127.0.0.1/", "http://public.example:22/"):
            with pytest.raises(SourceRefused):
                await careful.fetch(url)
    assert network.connections == []


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_a_proxy_of_the_environment_is_not_used(
    network: Network, public: WebServer, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:3128")
    async with DirectFetcher(FetchSettings(robots=False)) as careful:
        await careful.fetch("http://public.example/")
    assert network.connections == [PUBLIC_PLACE]


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "017700000001", "0x7f000001", "0"])
async def test_the_backend_checks_what_the_resolver_makes_of_a_form(network: Network, host: str) -> None:
    backend = CheckedBackend(httpcore.AnyIOBackend(), (), (80,))
    with pytest.raises(SourceRefused) as refused:
        await backend.connect_tcp(host, 80, timeout=5)
    assert refused.value.code == Code.URL_REFUSED
    assert network.connections == []


async def test_no_unix_socket_is_opened() -> None:
    with pytest.raises(SourceRefused):
        await CheckedBackend(httpcore.AnyIOBackend(), (), (80,)).connect_unix_socket("/var/run/docker.sock")
