from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.codes import Code
from schemas.events import FetchSucceeded, SourceRemoved, SourceSubmitted
from services.chassis.errors import EventRefused
from services.chassis.postgres import Postgres
from services.fetcher.promotion import Promotion
from services.fetcher.settings import PromotionSettings
from tests.support.migrated import Tables
from tests.support.rooms import Rooms
from tests.support.transport import received

URL = "https://example.org/a"
STATE = "select status, priority, revision from knowledge_source"


@pytest.fixture
def promotion(postgres: Postgres, tables: Tables) -> Promotion:
    return Promotion(postgres, PromotionSettings(daily=3))


@pytest.fixture
def organization() -> UUID:
    return uuid4()


def fetched(organization: UUID, url: str = URL, time: float = 0.0, **fields: Any) -> Any:
    return received(FetchSucceeded(organization_id=organization, url=url, **fields), time=time)


async def test_page_is_taken_in_once_however_often_it_is_told(
    promotion: Promotion, tables: Tables, organization: UUID
) -> None:
    event = fetched(organization)
    assert [await promotion.consider(event) for _ in range(2)] == [True, False]
    assert not await promotion.consider(fetched(organization, "https://EXAMPLE.org/a#part"))
    assert tables.rows(STATE) == [("pending", 2, 1)]


async def test_own_fetches_promote_nothing(promotion: Promotion, tables: Tables, organization: UUID) -> None:
    assert not await promotion.consider(fetched(organization, origin="pipeline"))
    assert tables.rows(STATE) == []


async def test_so_many_a_day_for_each_organization(promotion: Promotion, tables: Tables, organization: UUID) -> None:
    taken = [await promotion.consider(fetched(organization, f"{URL}/{number}")) for number in range(5)]
    assert taken == [True] * 3 + [False] * 2
    assert await promotion.consider(fetched(uuid4()))
    tables.rows("update knowledge_source set promoted_at = now() - interval '25 hours'")
    assert await promotion.consider(fetched(organization, f"{URL}/9"))


async def test_known_page_is_fetched_again_after_thirty_days(
    promotion: Promotion, tables: Tables, organization: UUID
) -> None:
    await promotion.consider(fetched(organization))
    tables.rows(
        "update knowledge_source set status = 'ready', due_at = null, last_fetched_at = now() - interval '29 days'"
    )
    assert not await promotion.consider(fetched(organization))
    tables.rows("update knowledge_source set last_fetched_at = now() - interval '31 days'")
    assert await promotion.consider(fetched(organization))
    assert tables.rows(STATE) == [("pending", 2, 2)]


async def test_removed_page_does_not_come_back(
    promotion: Promotion, postgres: Postgres, tables: Tables, organization: UUID
) -> None:
    await Rooms(postgres).deliver(SourceRemoved(organization_id=organization, url=URL))
    assert not await promotion.consider(fetched(organization, time=9))
    assert tables.row("select deleted_at is null from knowledge_source") == (False,)


async def test_promotion_does_not_keep_an_upstream_wish_of_before_out(
    promotion: Promotion, postgres: Postgres, tables: Tables, organization: UUID
) -> None:
    rooms = Rooms(postgres)
    wish = SourceSubmitted(organization_id=organization, kind="url", url=URL, title="Old")
    await rooms.deliver(wish, time=1)
    tables.rows("update knowledge_source set status = 'ready', last_fetched_at = now() - interval '31 days'")
    assert await promotion.consider(fetched(organization, time=3))
    await rooms.deliver(wish.model_copy(update={"title": "New"}), time=2)
    assert tables.row("select title from knowledge_source") == ("New",)


async def test_unknown_knowledge_base_is_refused(promotion: Promotion, organization: UUID) -> None:
    with pytest.raises(EventRefused) as refusal:
        await promotion.consider(fetched(organization, knowledge_base_id=uuid4()))
    assert refusal.value.code == Code.NOT_FOUND


@pytest.mark.parametrize("url", ["ftp://example.org/", "nothing"])
async def test_page_that_has_no_address_is_refused(promotion: Promotion, organization: UUID, url: str) -> None:
    with pytest.raises(EventRefused):
        await promotion.consider(fetched(organization, url))


async def test_nul_is_removed(promotion: Promotion, tables: Tables, organization: UUID) -> None:
    event = FetchSucceeded(organization_id=organization, url=URL, title="a\0b")
    assert await promotion.consider(received(event, id="e\0", source="s\0"))
    assert tables.row("select title from knowledge_source") == ("ab",)
