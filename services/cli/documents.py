"""`kb parse` and `kb chunk`: what the pipeline would make of a document, without any service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.options import Json

if TYPE_CHECKING:
    from services.chunker.job import ChunkedDocument, Source

What = Annotated[str, typer.Argument(metavar="FILE|URL", help="A file, or a page to fetch as the pipeline does.")]


def parse(what: What, json: Json = True) -> None:
    """Parse a document, and print its blocks as JSON."""
    import asyncio

    _print(asyncio.run(_parsed(what)))


def chunk(
    what: What,
    preset: Annotated[str, typer.Option(help="Sizes of chunks: default, large or short.")] = "default",
    json: Json = True,
) -> None:
    """Cut a document into chunks, and print them as JSON."""
    import asyncio

    _print(asyncio.run(_chunked(what, preset)))


def _print(result: Any) -> None:
    import json

    print(json.dumps(result, ensure_ascii=False, indent=2))


async def _parsed(what: str) -> dict[str, Any]:
    from services.chunker.pool import ParsingPool

    source = await _source(what)
    async with ParsingPool(**_bounds()) as pool:
        document = await pool.parse(source)
    return {
        "title": document.title,
        "media_type": document.media_type,
        "charset": document.charset,
        "text": document.text,
        "blocks": [
            {
                "kind": str(block.kind),
                "text": block.text,
                "heading_path": list(block.heading_path),
                "locator": _locator(block.locator),
            }
            for block in document.blocks
        ],
        "warnings": document.warnings,
    }


async def _chunked(what: str, preset: str) -> list[dict[str, Any]]:
    from services.chunker.pool import ParsingPool

    chosen = _preset(preset)
    source = await _source(what)
    async with ParsingPool(**_bounds()) as pool:
        document = await pool.parse_and_chunk(
            source.body,
            preset=chosen,
            media_type=source.media_type,
            charset=source.charset,
            name=source.name,
            url=source.url,
            limit=_limit(),
        )
    return _chunks(document)


def _chunks(document: ChunkedDocument) -> list[dict[str, Any]]:
    return [
        {
            "order": chunk.order,
            "text": chunk.text,
            "token_count": chunk.token_count,
            "heading_path": list(chunk.heading_path),
            "locator": _locator(chunk.locator),
            "start": chunk.start,
            "end": chunk.end,
            "content_hash": chunk.content_hash,
        }
        for chunk in document.chunks
    ]


async def _source(what: str) -> Source:
    from services.chunker.job import Source
    from services.cli.adding import existing, is_url

    if not is_url(what):
        path = existing(what)
        return Source(path, name=path.name)
    from services.fetcher.http.answers import Fetched
    from services.fetcher.http.settings import FetchSettings
    from services.fetcher.reading.page_reader import PageReader
    from services.fetcher.reading.settings import ReaderSettings

    async with PageReader(FetchSettings(), ReaderSettings()) as pages:
        page = await pages.fetch(what)
    if not isinstance(page, Fetched):
        raise TypeError("a page that was asked for without a condition came as unchanged")
    return Source(page.body, page.media_type, page.charset, url=page.url_final)


def _bounds() -> dict[str, Any]:
    from services.chunker.settings import ChunkerSettings

    settings = ChunkerSettings()
    return {"workers": 1, "seconds": settings.seconds, "memory_bytes": settings.memory_mib << 20}


def _limit() -> int:
    from services.chunker.settings import ChunkerSettings

    return ChunkerSettings().tokens


def _preset(name: str) -> Any:
    from schemas.codes import Code
    from services.chunker.presets import PRESETS
    from services.cli.failures import CommandFailed

    if name not in PRESETS:
        raise CommandFailed(Code.REQUEST_INVALID, f"no preset {name!r}: there are {', '.join(PRESETS)}")
    return PRESETS[name]


def _locator(locator: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(locator).items() if value is not None}
