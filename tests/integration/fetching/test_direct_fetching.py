"""What a fetch gives back, against a server on loopback."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import ssl
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from schemas.codes import Code
from services.chassis.errors import RetryLater, SourceRefused
from services.fetcher.http.answers import Fetched, NotModified
from services.fetcher.http.fetching import DirectFetcher
from tests.support.web import Behaviour, Reply, WebServer, chunked, conditional, in_turn, page, redirect, status

from .conftest import Network, settings

DATE = "Tue, 01 Jan 2030 00:00:00 GMT"


async def test_a_page_comes_with_all_that_is_known_of_it(fetcher: DirectFetcher, web: WebServer) -> None:
    url = web.at("/a", Reply(b"<p>hi</p>", headers={"Content-Type": 'Text/HTML; Charset="UTF-8"', "ETag": '"1"'}))
    assert await fetcher.fetch(f"{url}?utm_source=x#part") == Fetched(
        url_final=url,
        status=200,
        media_type="text/html",
        charset="utf-8",
        body=b"<p>hi</p>",
        sha256=hashlib.sha256(b"<p>hi</p>").hexdigest(),
        etag='"1"',
        last_modified=None,
        redirects=(),
    )


async def test_redirects_lead_to_the_final_url(fetcher: DirectFetcher, web: WebServer) -> None:
    web.at("/a", redirect("b", 301))
    web.at("/b", redirect(web.url("/c?utm_source=b&x=1#y"), 308))
    web.at("/c", page("end"))
    got = await fetcher.fetch(web.url("/a"))
    assert isinstance(got, Fetched)
    assert got.url_final == web.url("/c?x=1")
    assert got.redirects == (web.url("/a"), web.url("/b"))
    assert web.requests[-1].query == "utm_source=b&x=1"


@pytest.mark.parametrize(
    "behaviour",
    [
        Reply(gzip.compress(b"text"), headers={"Content-Encoding": "gzip"}),
        Reply(zlib.compress(b"text"), headers={"Content-Encoding": "deflate"}),
        chunked(b"te", b"xt"),
        chunked(gzip.compress(b"text"), Content_Encoding="gzip"),
        Reply(b"text", status=203),
    ],
)
async def test_a_body_comes_back_as_it_was(fetcher: DirectFetcher, web: WebServer, behaviour: Behaviour) -> None:
    got = await fetcher.fetch(web.at("/", behaviour))
    assert isinstance(got, Fetched)
    assert got.body == b"text"


async def test_the_request_says_who_asks(fetcher: DirectFetcher, web: WebServer) -> None:
    await fetcher.fetch(web.at("/", page("x")))
    headers = web.requests[0].headers
    assert headers["user-agent"] == "agent-knowledge-base/0.1"
    assert headers["accept-encoding"] == "gzip, deflate"
    assert not {"authorization", "if-none-match", "if-modified-since", "referer"} & set(headers)


async def test_cookies_are_not_kept(fetcher: DirectFetcher, web: WebServer) -> None:
    web.at("/a", Reply(b"x", 302, {"Location": "/b", "Set-Cookie": "a=1; Path=/"}))
    web.at("/b", page("x", Set_Cookie="b=1; Path=/"))
    for _ in range(2):
        await fetcher.fetch(web.url("/a"))
    assert not any("cookie" in request.headers for request in web.requests)


@pytest.mark.parametrize(
    "validators", [{"etag": '"1"'}, {"last_modified": DATE}, {"etag": '"1"', "last_modified": DATE}]
)
async def test_an_unchanged_page_is_not_sent_again(
    fetcher: DirectFetcher, web: WebServer, validators: dict[str, str]
) -> None:
    url = web.at("/", conditional(b"x", **validators))
    first = await fetcher.fetch(url)
    assert isinstance(first, Fetched)
    again = await fetcher.fetch(url, etag=first.etag, last_modified=first.last_modified)
    assert again == NotModified(url, first.etag, first.last_modified, ())


async def test_a_changed_page_is_sent(fetcher: DirectFetcher, web: WebServer) -> None:
    url = web.at("/", conditional(b"x", '"2"'))
    assert isinstance(await fetcher.fetch(url, etag='"1"'), Fetched)


async def test_validators_go_only_to_the_page_that_gave_them(fetcher: DirectFetcher, web: WebServer) -> None:
    web.at("/moved", redirect("/new"))
    web.at("/new", conditional(b"x", last_modified=DATE))
    got = await fetcher.fetch(web.url("/moved"), last_modified=DATE)
    assert isinstance(got, Fetched)
    got = await fetcher.fetch(web.url("/moved"), last_modified=DATE, validated_url=got.url_final)
    assert got == NotModified(web.url("/new"), None, DATE, (web.url("/moved"),))


async def test_a_stored_validator_adds_no_header(fetcher: DirectFetcher, web: WebServer) -> None:
    url = web.at("/", page("x"))
    await fetcher.fetch(url, etag='"1"\r\nX-Injected: yes', last_modified="é")
    assert not {"x-injected", "if-none-match", "if-modified-since"} & set(web.requests[0].headers)


async def test_an_unasked_not_modified_is_no_page(fetcher: DirectFetcher, web: WebServer) -> None:
    with pytest.raises(RetryLater) as failed:
        await fetcher.fetch(web.at("/", status(304)))
    assert failed.value.code == Code.HTTP_STATUS


@pytest.mark.parametrize(
    "behaviour", [Reply(b""), Reply(b"", 204), chunked(), Reply(b"", headers={"Content-Encoding": "gzip"})]
)
async def test_an_empty_page_is_refused(fetcher: DirectFetcher, web: WebServer, behaviour: Behaviour) -> None:
    with pytest.raises(SourceRefused) as refused:
        await fetcher.fetch(web.at("/", behaviour))
    assert refused.value.code == Code.EMPTY


@pytest.mark.parametrize("code", [401, 403, 404, 410, 451])
async def test_a_refusal_of_the_host_is_final(fetcher: DirectFetcher, web: WebServer, code: int) -> None:
    with pytest.raises(SourceRefused, match=str(code)) as refused:
        await fetcher.fetch(web.at("/", status(code)))
    assert refused.value.code == Code.HTTP_STATUS


async def test_a_redirect_to_nowhere_is_refused(fetcher: DirectFetcher, web: WebServer) -> None:
    with pytest.raises(SourceRefused, match="302 Found") as refused:
        await fetcher.fetch(web.at("/", status(302)))
    assert refused.value.code == Code.HTTP_STATUS


async def test_a_passing_error_says_when_to_come_back(fetcher: DirectFetcher, web: WebServer) -> None:
    with pytest.raises(RetryLater) as failed:
        await fetcher.fetch(web.at("/", status(503, Retry_After="30")))
    assert (failed.value.code, failed.value.after) == (Code.HTTP_STATUS, 30)


async def test_a_host_that_asks_for_rest_gets_it(web: WebServer) -> None:
    url, other = web.at("/", status(429, Retry_After="100")), web.at("/other", page("x"))
    async with DirectFetcher(settings(host_wait_seconds=1)) as fetcher:
        for place in (url, other):
            with pytest.raises(RetryLater) as failed:
                await fetcher.fetch(place)
            assert failed.value.code == Code.RATE_LIMITED
            assert failed.value.after == pytest.approx(100, abs=2)
    assert len(web.requests) == 1


async def test_a_host_is_asked_with_pauses(web: WebServer) -> None:
    url, started = web.at("/", page("x")), time.monotonic()
    async with DirectFetcher(settings(host_delay_seconds=0.1)) as fetcher:
        for _ in range(4):
            await fetcher.fetch(url)
    assert time.monotonic() - started >= 0.28


async def test_an_unknown_host_is_tried_again(fetcher: DirectFetcher, network: Network) -> None:
    with pytest.raises(RetryLater) as failed:
        await fetcher.fetch("http://unknown.example/")
    assert failed.value.code == Code.HOST_NOT_FOUND


async def test_a_closed_port_is_tried_again(fetcher: DirectFetcher, network: Network) -> None:
    with pytest.raises(RetryLater) as failed:
        await fetcher.fetch("http://127.0.0.1:81/")
    assert failed.value.code == Code.FETCH_FAILED
    assert network.connections == [("127.0.0.1", 81)]


async def test_the_next_address_is_tried(fetcher: DirectFetcher, network: Network, web: WebServer) -> None:
    network.names["several.example"] = [["127.0.0.2", "127.0.0.3", "127.0.0.1"]]
    network.routes[("127.0.0.1", web.port)] = web.port
    web.at("/", page("x"))
    await fetcher.fetch(web.url("/", "several.example"))
    assert network.connections == [(f"127.0.0.{last}", web.port) for last in (2, 3, 1)]
    assert web.requests[0].headers["host"] == f"several.example:{web.port}"


async def test_a_passing_error_passes(fetcher: DirectFetcher, web: WebServer) -> None:
    url = web.at("/", in_turn(status(500), page("x")))
    with pytest.raises(RetryLater):
        await fetcher.fetch(url)
    assert isinstance(await fetcher.fetch(url), Fetched)


async def test_a_folder_is_served(fetcher: DirectFetcher, web: WebServer, tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "index.html").write_text("<h1>Guide</h1>")
    web.serve_folder(tmp_path)
    got = await fetcher.fetch(web.url("/guide/"))
    assert isinstance(got, Fetched)
    assert got.media_type == "text/html"
    for validators in ({"etag": got.etag}, {"last_modified": got.last_modified}):
        assert isinstance(await fetcher.fetch(web.url("/guide/"), **validators), NotModified)
    with pytest.raises(SourceRefused):
        await fetcher.fetch(web.url("/..%2f..%2fetc/passwd"))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of secure.example, with its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("tls")
    key, crt, both = folder / "key.pem", folder / "crt.pem", folder / "both.pem"
    names = ["-subj", "/CN=secure.example", "-addext", "subjectAltName=DNS:secure.example"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", crt]
    subprocess.run([*made, *names], check=True, capture_output=True)
    both.write_bytes(crt.read_bytes() + key.read_bytes())
    return both


async def test_tls_is_checked_for_the_name_and_not_the_address(network: Network, certificate: Path) -> None:
    network.names.update({"secure.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]]})
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    async with WebServer(tls) as web, DirectFetcher(settings(ca_file=certificate)) as fetcher:
        network.routes[("127.0.0.1", web.port)] = web.port
        web.at("/", page("secret"))
        assert isinstance(await fetcher.fetch(web.url("/", "secure.example")), Fetched)
        for host in ("other.example", "127.0.0.1"):
            with pytest.raises(RetryLater) as failed:
                await fetcher.fetch(web.url("/", host))
            assert failed.value.code == Code.FETCH_FAILED
        assert len(web.requests) == 1


async def test_an_authority_that_is_not_known_is_not_trusted(network: Network, certificate: Path) -> None:
    network.names["secure.example"] = [["127.0.0.1"]]
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate)
    async with WebServer(tls) as web, DirectFetcher(settings()) as fetcher:
        network.routes[("127.0.0.1", web.port)] = web.port
        with pytest.raises(RetryLater, match="certificate") as failed:
            await fetcher.fetch(web.url("/", "secure.example"))
        assert failed.value.code == Code.FETCH_FAILED
        assert web.requests == []
