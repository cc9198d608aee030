"""LanceDB's hybrid search on ready-made chunks and vectors. Runs in an environment of its own, with lancedb and numpy.

    python retrieval_peer.py FOLDER

FOLDER holds chunks.jsonl (`document`, `text`), queries.jsonl (`text`) and vectors.npz (`chunks` and `queries`: float32,
a row each). Prints JSON: for each query its documents, by their best chunk, and milliseconds.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

K = 100
BIGRAMS = {
    "base_tokenizer": "ngram",
    "ngram_min_length": 2,
    "ngram_max_length": 2,
    "stem": False,
    "remove_stop_words": False,
}
"""For scripts without spaces between words. Others get what LanceDB does by itself: English stems, no stop words."""


def main() -> None:
    """Ask all queries and print what was found."""
    import lancedb
    from lancedb.rerankers import RRFReranker

    folder = Path(sys.argv[1])
    chunks, queries = (_rows(folder / name) for name in ("chunks.jsonl", "queries.jsonl"))
    vectors = np.load(folder / "vectors.npz")
    with tempfile.TemporaryDirectory(prefix="retrieval-peer-") as home:
        table = lancedb.connect(home).create_table("chunks", _table(chunks, vectors["chunks"]))
        table.create_fts_index("text", **(BIGRAMS if _needs_bigrams(chunks) else {}))
        rankings, took = [], []
        for query, vector in zip(queries, vectors["queries"], strict=True):
            begun = time.perf_counter()
            hybrid = table.search(query_type="hybrid").vector(vector).text(query["text"]).distance_type("cosine")
            hits = hybrid.rerank(RRFReranker()).select(["document"]).limit(K).to_list()
            took.append(1000 * (time.perf_counter() - begun))
            rankings.append(list(dict.fromkeys(hit["document"] for hit in hits)))
    print(json.dumps({"version": lancedb.__version__, "rankings": rankings, "milliseconds": took}))


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _table(chunks: list[dict[str, Any]], vectors: np.ndarray) -> Any:
    import pyarrow as pa

    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    names = ("document", "text")
    return pa.table({name: [chunk[name] for chunk in chunks] for name in names} | {"vector": column})


def _needs_bigrams(chunks: list[dict[str, Any]]) -> bool:
    letters = [sign for chunk in chunks[:200] for sign in chunk["text"] if sign.isalpha()]
    return sum(sign > "\u2e7f" for sign in letters) > len(letters) / 2


if __name__ == "__main__":
    main()
