"""A small site for crawls, of pages that link to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.support.web import Behaviour, Reply, WebServer


def linking(name: str, links: Sequence[str] = (), head: str = "", more: str = "") -> str:
    """The HTML of a page with text of its own and links in their order."""
    anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    text = f"This page tells all there is to know about {name}, and nothing about anything else."
    return (
        f"<!doctype html><html><head><title>{name}</title>{head}</head><body><main><h1>{name}</h1>"
        f"<p>{text}</p>{more}</main><ul>{anchors}</ul></body></html>"
    )


def html(text: str, etag: str | None = None, **headers: str) -> Behaviour:
    """A page with a validator, that it honours."""
    named = {"Content-Type": "text/html; charset=utf-8", **headers}
    tag = etag or f'"{abs(hash(text))}"'

    async def answer(request: object, writer: object) -> None:
        same = request.headers.get("if-none-match") == tag  # type: ignore[attr-defined]
        reply = Reply(b"", 304, {"ETag": tag}) if same else Reply(text.encode(), 200, {**named, "ETag": tag})
        await reply(request, writer)  # type: ignore[arg-type]

    return answer


def serve(web: WebServer, pages: Mapping[str, Sequence[str]]) -> None:
    """Serve pages by their path with the links of each."""
    for path, links in pages.items():
        web.at(path, html(linking(path, links)))


def asked(web: WebServer) -> list[str]:
    """The paths of all requests for pages so far, in their order; then they are forgotten."""
    paths = [request.path + (f"?{request.query}" if request.query else "") for request in web.requests]
    web.requests.clear()
    return [path for path in paths if path != "/robots.txt" and not path.endswith("sitemap.xml")]
