from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from schemas.events import SourceSubmitted
from schemas.events.source import Crawl


def submitted(**fields: Any) -> SourceSubmitted:
    return SourceSubmitted.model_validate({"organization_id": uuid4(), "kind": "url", "url": "https://h/"} | fields)


def test_limits_that_are_not_given() -> None:
    assert submitted(crawl={}).crawl == Crawl(max_pages=200, depth=8, prefix=None)


@pytest.mark.parametrize(
    "crawl", [{"max_pages": 0}, {"max_pages": 5001}, {"depth": -1}, {"depth": 21}, {"prefix": "x"}]
)
def test_limits_that_can_not_be(crawl: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        submitted(crawl=crawl)


def test_only_a_url_is_crawled() -> None:
    with pytest.raises(ValidationError, match="crawled"):
        submitted(kind="text", text="x", external_id="a", crawl={})


@pytest.mark.parametrize("language", ["EN", "eng", "e", "", "d\n"])
def test_languages_that_are_none(language: str) -> None:
    with pytest.raises(ValidationError):
        submitted(language=language)
