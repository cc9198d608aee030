from __future__ import annotations

from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from schemas.events import SourceRemoved
from schemas.identifiers import default_knowledge_base_id
from services.fetcher.naming import SourceName, name_of

ORGANIZATION = UUID(int=1)
BASE = UUID(int=2)
NAMES = st.text(min_size=1, max_size=20)


def named(**fields: Any) -> SourceName:
    return name_of(SourceRemoved(**{"organization_id": ORGANIZATION} | fields))


@given(NAMES, NAMES)
def test_one_name_is_one_source_and_two_are_two(one: str, other: str) -> None:
    assert named(external_id=one) == named(external_id=one)
    assert (named(external_id=one) == named(external_id=other)) is (one == other)


@given(NAMES, st.uuids(), st.uuids())
def test_name_means_another_source_in_another_organization_or_base(name: str, organization: UUID, base: UUID) -> None:
    ids = {
        named(external_id=name, organization_id=o, knowledge_base_id=b).source_id
        for o in (ORGANIZATION, organization)
        for b in (BASE, base)
    }
    assert len(ids) == len({ORGANIZATION, organization}) * len({BASE, base})


def test_ids_are_the_same_in_every_release() -> None:
    assert named(external_id="a").source_id == UUID("a504a7e0-35da-524e-bf51-d5bc16a16215")
    assert named(url="https://example.org/").source_id == UUID("3180c3d2-2751-5f62-8a63-64cc877a22f8")


def test_absent_base_is_the_default_one() -> None:
    default = default_knowledge_base_id(ORGANIZATION)
    assert named(external_id="a") == named(external_id="a", knowledge_base_id=default)


def test_id_goes_before_name_and_name_before_url() -> None:
    url = "https://example.org/a"
    assert named(source_id=UUID(int=9), external_id="a", url=url).source_id == UUID(int=9)
    assert named(external_id="a", url=url).source_id == named(external_id="a").source_id
    assert named(external_id="a", url=url).url == url


def test_spellings_of_one_page_are_one_source() -> None:
    spellings = ("https://Example.org:443/a/../b#part", "HTTPS://example.org/b")
    assert named(url=spellings[0]) == named(url=spellings[1])


def test_name_that_looks_like_a_url_is_not_that_page() -> None:
    url = "https://example.org/b"
    assert named(external_id=url).source_id != named(url=url).source_id


def test_url_that_is_none_is_taken_and_fails_later() -> None:
    found = named(url="ftp://example.org/a\0")
    assert found.url == "ftp://example.org/a"
    assert found.source_id == named(url="ftp://example.org/a").source_id
