"""What a value looks like: whether it is small enough for lines, alike enough for a table, and what it is called."""

from __future__ import annotations

from collections.abc import Iterator

from services.chunker.data.json_values import Value

# A container of at most so many scalars and characters is small; strings above _LONG stand alone.
_FEW = 8
_SHORT = 400
_LONG = 200
_INLINE = 40
_WIDEST_TABLE = 12
_NAMES = ("title", "name", "heading", "label", "question", "id", "key")


def scalar(value: Value) -> str:
    """A string or number as it is, a truth value as JSON writes it, nothing for null."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else ""


def few_lines(value: Value, path: str) -> list[tuple[str, str]] | None:
    """A small value as names and texts, in its order; None for a large one, and for what makes a table."""
    if isinstance(value, list) and columns_of(value):
        return None
    lines: list[tuple[str, str]] = []
    size = 0
    for name, text in _leaves(value, path):
        lines.append((name, text))
        size += len(text)
        if len(lines) > _FEW or size > _SHORT or len(text) > _LONG or "\n" in text.strip():
            return None
    return lines


def _leaves(value: Value, path: str) -> Iterator[tuple[str, str]]:
    """The scalars under `value` with the path to each; those of a list of short ones together."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if len(value) <= _INLINE and all(not isinstance(item, dict | list) for item in value):
            yield from _leaves(cell_text(value), path)
        elif len(value) == 1:
            yield from _leaves(value[0], path)
        else:
            for number, item in enumerate(value, 1):
                yield from _leaves(item, f"{path}.{number}" if path else str(number))
    elif scalar(value).strip():
        yield path, scalar(value)


def columns_of(values: list[Value]) -> list[str]:
    """The keys of a list of objects that fit into a table: alike, and of short scalars; else none."""
    keys: dict[str, None] = {}
    for value in values:
        if not isinstance(value, dict) or not all(map(_fits_cell, value.values())):
            return []
        keys.update(dict.fromkeys(value))
        if len(keys) > _WIDEST_TABLE:
            return []
    filled = sum(len(value) for value in values if isinstance(value, dict))
    return list(keys) if len(values) > 1 and len(keys) > 1 and filled >= 0.6 * len(keys) * len(values) else []


def _fits_cell(value: Value) -> bool:
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value)):
        return False
    return len(cell_text(value)) <= _LONG


def cell_text(value: Value) -> str:
    """A value in a table: a scalar, or several of them."""
    return ", ".join(filter(None, map(scalar, value))) if isinstance(value, list) else scalar(value)


def title_of(value: Value) -> str | None:
    """What an object says it is called."""
    if isinstance(value, dict):
        for name in _NAMES:
            text = value.get(name)
            if isinstance(text, str) and text.strip() and len(text) <= _LONG and "\n" not in text.strip():
                return text
    return None


def one_line(text: str) -> str:
    """`text` with white space squeezed."""
    return " ".join(text.split())
