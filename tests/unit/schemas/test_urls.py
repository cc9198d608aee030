"""One page has one URL."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.urls import LONGEST_URL, InvalidUrl, normalize, parse, resolve

NORMAL = [
    ("https://example.com", "https://example.com/"),
    ("  HTTPS://EXAMPLE.com/A/b  ", "https://example.com/A/b"),
    ("http://example.com:80/", "http://example.com/"),
    ("https://example.com:443/", "https://example.com/"),
    ("https://example.com:080/", "https://example.com:80/"),
    ("https://example.com:/", "https://example.com/"),
    ("http://example.com:8080/", "http://example.com:8080/"),
    ("http://example.com./", "http://example.com/"),
    ("http://example.com/#top", "http://example.com/"),
    ("http://example.com/?#", "http://example.com/"),
    ("http://example.com?q=1", "http://example.com/?q=1"),
    ("http://example.com/a/./b/../c", "http://example.com/a/c"),
    ("http://example.com/a/b/..", "http://example.com/a/"),
    ("http://example.com/../../a", "http://example.com/a"),
    ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
    ("http://example.com/a//b", "http://example.com/a//b"),
    ("http://example.com/a\\b", "http://example.com/a/b"),
    ("http://example.com/%7euser/%e4%bd%a0", "http://example.com/~user/%E4%BD%A0"),
    ("http://example.com/你 好", "http://example.com/%E4%BD%A0%20%E5%A5%BD"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/100%", "http://example.com/100%25"),
    ("http://example.com/?b=2&a=1&b=1", "http://example.com/?b=2&a=1&b=1"),
    ("http://example.com/?q=a+b%20c", "http://example.com/?q=a+b%20c"),
    ("http://example.com/?utm_source=x&id=7&UTM_medium=y&gclid=z", "http://example.com/?id=7"),
    ("http://example.com/?fbclid=x", "http://example.com/"),
    ("http://example.com/?utm%5Fsource=x&a", "http://example.com/?a"),
    ("http://münchen.example/", "http://xn--mnchen-3ya.example/"),
    ("http://MÜNCHEN.example/", "http://xn--mnchen-3ya.example/"),
    ("http://例え。テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ("http://my_host.example/", "http://my_host.example/"),
    ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://0177.0.0.01/", "http://127.0.0.1/"),
    ("http://１２７.0.0.1/", "http://127.0.0.1/"),
    ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
]

INVALID = [
    "",
    "example.com",
    "/path",
    "//example.com/",
    "http:example.com",
    "http:/example.com",
    "http:\\\\example.com",
    "http://",
    "http:///path",
    "http://?q",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,x",
    "mailto:a@example.com",
    "http://user@example.com/",
    "http://user:secret@example.com/",
    "http://@example.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:http/",
    "http://example.com:-1/",
    "http://example.com:８０/",
    "http://exa mple.com/",
    "http://exam<ple.com/",
    "http://a..b/",
    "http://.example.com/",
    "http://example.com../",
    "http://%00.example.com/",
    "http://%ff.example.com/",
    "http://℀.example.com/",
    f"http://{'a' * 64}.example/",
    f"http://{'a.' * 127}example/",
    "http://1.2.3.4.5/",
    "http://1.2.3.256/",
    "http://256.1/",
    "http://4294967296/",
    "http://09.1/",
    "http://example.1/",
    "http://[::1/",
    "http://[::1]x/",
    "http://::1/",
    "http://[127.0.0.1]/",
    "http://[fe80::1%25eth0]/",
    "http://example.com/a\nb",
    "http://example.com/a\x00b",
    "http://example.com/\ud800",
    f"http://example.com/{'a' * LONGEST_URL}",
    f"http://example.com/{'é' * 1_000}",
]


@pytest.mark.parametrize(("url", "normal"), NORMAL)
def test_a_url_has_one_form(url: str, normal: str) -> None:
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize("url", INVALID)
def test_what_is_no_public_page_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        normalize(url)


def test_the_longest_url_is_taken() -> None:
    url = "http://example.com/".ljust(LONGEST_URL, "a")
    assert normalize(url) == url


def test_a_password_is_not_repeated_in_the_reason() -> None:
    with pytest.raises(InvalidUrl) as refused:
        normalize("http://user:secret@example.com/")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("/c", "http://example.com/c"),
        ("c", "http://example.com/a/c"),
        ("../c?x=1#y", "http://example.com/c?x=1"),
        ("//other.example/c", "http://other.example/c"),
        ("\\\\other.example/c", "http://other.example/c"),
        ("https://other.example", "https://other.example/"),
        ("?utm_source=kept", "http://example.com/a/b?utm_source=kept"),
        ("", "http://example.com/a/b?q=1"),
        (" /c ", "http://example.com/c"),
    ],
)
def test_a_reference_is_resolved_on_its_page(reference: str, target: str) -> None:
    assert resolve("http://example.com/a/b?q=1", reference) == target


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "http://u:p@h/", "http://[", "gopher://h/", "x" * 3_000])
def test_a_reference_to_something_else_is_refused(reference: str) -> None:
    with pytest.raises(InvalidUrl):
        resolve("http://example.com/", reference)


_TEXT = st.text(st.sampled_from("aZ09%2eE.fF/\\?#&=+~ üß你😀\u200d'\"[]|^utm_@:;") | st.characters(), max_size=40)
_HOSTS = st.sampled_from(["example.com", "EXAMPLE.com.", "bücher.example", "10.1", "[::1]", "[::ffff:1.2.3.4]"]) | _TEXT
_PORTS = st.sampled_from(["", ":", ":80", ":443", ":0443", ":8080"])
_URLS = st.builds("{}://{}{}{}".format, st.sampled_from(["http", "HTTPS"]), _HOSTS, _PORTS, st.just("/") | _TEXT)


@given(_URLS | st.text())
@example("http://h/%%34%31")
@example("http://h/%2%35")
@example("http://h/?utm_a&&utm_b")
@example("http://h/a/%2E%2e//..//.")
def test_normalizing_twice_changes_nothing(url: str) -> None:
    try:
        once = normalize(url)
    except InvalidUrl:
        return
    assert normalize(once) == once
    assert once.isascii()
    assert len(once) <= LONGEST_URL
    assert resolve(once, once) == once


@given(_URLS)
def test_the_http_client_reads_it_alike(url: str) -> None:
    try:
        address = parse(url)
    except InvalidUrl:
        return
    read = httpx.Request("GET", str(address), headers={"Host": address.authority}).url
    assert read.raw_host.decode() == address.host.strip("[]")
    assert read.port == address.port
    assert read.raw_path.decode().replace("%27", "'") == (f"{address.path}?{address.query}".removesuffix("?"))
