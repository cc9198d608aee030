"""SQL lives in files: each query stands under a line `-- name: the_name`, with its description in comments."""

from __future__ import annotations

import re
from importlib import resources
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def load_queries(package: str, filename: str) -> dict[str, LiteralString]:
    """The queries of a file beside a package's modules, by name."""
    text = resources.files(package).joinpath(filename).read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    # Files of the distribution are as trustworthy as its code, which is what LiteralString asks for.
    return {name: cast(LiteralString, sql.strip()) for name, sql in zip(parts[::2], parts[1::2], strict=True)}
