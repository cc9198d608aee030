import pytest

from services.chunker.presets import PRESETS, Preset
from services.encoder.tokens import count_tokens


def test_the_named_presets() -> None:
    sizes = {preset.name: (preset.budget, preset.overlap, preset.by_characters) for preset in PRESETS.values()}
    assert sizes == {"default": (500, 50, False), "large": (800, 80, False), "short": (2000, 0, True)}
    assert all(name == preset.name for name, preset in PRESETS.items())


@pytest.mark.parametrize("text", ["words and words", "词词词", "👩\u200d👧", ""])
def test_sizes_are_in_tokens_or_in_characters(text: str) -> None:
    assert PRESETS["default"].measure(text) == count_tokens(text)
    assert PRESETS["short"].measure(text) == len(text)


@pytest.mark.parametrize(("budget", "overlap"), [(7, 0), (100, 51), (100, -1)])
def test_sizes_that_make_no_chunks(budget: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="overlap"):
        Preset("wrong", budget, overlap)
