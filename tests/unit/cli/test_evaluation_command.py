"""`kb eval` where it ends before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cli.evaluation.system import own_folder
from services.cli.settings import CommandSettings
from services.encoder.settings import EncoderSettings
from tests.unit.cli.conftest import Kb


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nowhere",), "NOT_FOUND"),
        ((".",), "NOT_FOUND"),
        ((".", "--fusion", "best"), "REQUEST_INVALID"),
        ((".", "--fusion", ""), "REQUEST_INVALID"),
        ((".", "--report", "no/folder/page.html"), "NOT_FOUND"),
        ((".", "--report", "."), "NOT_FOUND"),
    ],
)
def test_a_request_that_can_not_be_met_is_refused_with_a_code(kb: Kb, arguments: tuple[str, ...], code: str) -> None:
    ended = kb("eval", *arguments, "--json")
    assert ended.code == 1
    assert ended.json["error"]["code"] == code
    assert ended.error == ""


def test_each_model_has_a_folder_of_its_own(tmp_path: Path) -> None:
    settings = CommandSettings(home=tmp_path)
    models = ["none", "local/multilingual-e5-small", "local/all-minilm-l6-v2", "/models/one", "/models/two"]
    folders = [own_folder(settings, EncoderSettings(model=model)) for model in models]
    folders.append(own_folder(settings, EncoderSettings(model="openai/x", embedding_dimensions=256)))
    folders.append(own_folder(settings, EncoderSettings(model="openai/x", embedding_dimensions=512)))
    assert len(set(folders)) == len(folders)
    assert {folder.parent for folder in folders} == {tmp_path / "evaluation"}
    assert folders[0] == own_folder(settings, EncoderSettings(model="none"))
