"""What a process of the pool does with one source, in a form that crosses the border between processes cheaply."""

from __future__ import annotations

import gc
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from schemas.codes import Code
from services.chassis.errors import SourceRefused
from services.chunker.blocks import Document, Locator
from services.chunker.chunking import Chunk, Extent, chunks_of, extents
from services.chunker.parsing import parse
from services.chunker.presets import Preset
from services.encoder.tokens import count_tokens

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Source:
    """A source to parse: its bytes or the file that has them, and what is known of them. See `parsing.parse`."""

    body: bytes | Path
    media_type: str | None = None
    charset: str | None = None
    name: str | None = None
    url: str | None = None


class ChunkedDocument(NamedTuple):
    """A parsed source as it is stored, and its chunks."""

    title: str | None
    media_type: str
    charset: str | None
    language: str | None
    text: str
    warnings: list[str]
    chunks: list[Chunk]


class Laid(NamedTuple):
    """A parsed source whose chunks are extents of its text yet, so that no text is sent twice.

    `places` are heading path and locator of each extent.
    """

    title: str | None
    media_type: str
    charset: str | None
    language: str | None
    text: str
    warnings: list[str]
    laid: list[Extent]
    places: list[tuple[tuple[str, ...], Locator]]

    def unpacked(self) -> ChunkedDocument:
        """Cut the chunks out of the text."""
        chunks = chunks_of(self.text, self.laid, self.places)
        return ChunkedDocument(
            self.title, self.media_type, self.charset, self.language, self.text, self.warnings, chunks
        )


def read(source: Source) -> Document:
    """Parse a source."""
    body = source.body if isinstance(source.body, bytes) else source.body.read_bytes()
    return parse(body, media_type=source.media_type, charset=source.charset, name=source.name, url=source.url)


def lay(source: Source, preset: Preset, limit: int | None) -> Laid:
    """Parse a source and find its chunks."""
    document = read(source)
    laid = extents(document, preset, limit)
    blocks = [document.blocks[extent.block] for extent in laid]
    return Laid(
        document.title,
        document.media_type,
        document.charset,
        document.language,
        document.text,
        document.warnings,
        laid,
        [(block.heading_path, block.locator) for block in blocks],
    )


def guarded(job: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `job`; whatever goes wrong in it is the document's fault, and is raised as SourceRefused."""
    try:
        return job(*args, **kwargs)
    except SourceRefused:
        raise
    except MemoryError:
        # Raised only after this block, when the job's frames and what they hold are gone: else there is no memory
        # left to send the answer.
        pass
    except RecursionError as error:
        raise SourceRefused(Code.TOO_DEEP, "the document is nested more deeply than the parser follows") from error
    except Exception as error:
        raise SourceRefused(Code.BROKEN, f"the parser failed: {type(error).__name__}: {error}") from error
    raise SourceRefused(Code.PARSE_MEMORY, "parsing took more memory than it may")


def prepare(memory_bytes: int) -> None:
    """Make a new process of the pool ready: its memory bounded, no core files, the tokenizer loaded."""
    count_tokens("warm")
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    collect_rarely()


def collect_rarely() -> None:
    """Let the collector of cycles run less often: parsing makes many small objects and hardly a cycle."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
