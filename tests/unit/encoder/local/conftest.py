"""The local models, converted once for all tests here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from services.encoder.local import minilm, multilingual_e5
from services.encoder.local.sentence_model import SentenceModel


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def e5(cache: Path) -> SentenceModel:
    return multilingual_e5.open_model(cache)


@pytest.fixture(scope="session")
def english(cache: Path) -> SentenceModel:
    return minilm.open_model(cache)


Cosine = Callable[[SentenceModel, str, str], float]


@pytest.fixture(scope="session")
def cosine() -> Cosine:
    def of(model: SentenceModel, one: str, other: str) -> float:
        return float(np.frombuffer(model.embed(one), "<f4") @ np.frombuffer(model.embed(other), "<f4"))

    return of
