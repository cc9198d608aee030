"""The named sizes of chunks, of which a knowledge base chooses one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from services.encoder.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Preset:
    """How large chunks are: `budget` is the most a chunk has, `overlap` the most it repeats of the one before.

    Both are in cl100k tokens or, where `by_characters`, in characters; both bound the chunk's own text. Title and
    description, which the embedder and the index of words put in front of it, come on top: they can change without the
    document being cut anew, and a chunk remains an exact range of the stored text.
    """

    name: str
    budget: int
    overlap: int
    by_characters: bool = False

    def __post_init__(self) -> None:
        if self.budget < 8 or not 0 <= self.overlap <= self.budget // 2:
            raise ValueError("a chunk has 8 tokens at least, and at most half of it is overlap")

    @property
    def measure(self) -> Callable[[str], int]:
        """Gives the size of a text in the preset's unit."""
        return len if self.by_characters else count_tokens


PRESETS: Final[dict[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset("default", 500, 50),
        Preset("large", 800, 80),
        Preset("short", 2000, 0, by_characters=True),
    )
}
