from __future__ import annotations

from uuid import UUID

import pytest

from services.query.access import Principal, own_reader, readers

MINE, PUBLIC, PROFILE = UUID(int=1), UUID(int=2), UUID(int=3)


@pytest.mark.parametrize(
    ("role", "audience", "sees"),
    [
        ("agent", "internal", False),
        ("member", "internal", False),
        ("staff", "internal", True),
        ("admin", "internal", True),
        ("staff", "public", False),
        ("admin", "public", False),
    ],
)
def test_who_sees_what_is_not_public_yet(role: str, audience: str, sees: bool) -> None:
    reader = own_reader(Principal(MINE, PROFILE, role, audience))  # type: ignore[arg-type]
    assert reader.sees_unpublished is sees
    assert (reader.organization_id, reader.profile_id, reader.is_guest) == (MINE, PROFILE, False)


def test_a_guest_is_nobody_in_particular() -> None:
    own, public = readers(Principal(MINE, PROFILE, "admin"), PUBLIC)
    assert own.organization_id == MINE
    assert public.arguments == {
        "organization": PUBLIC, "profile": None, "sees_unpublished": False, "is_guest": True,
    }  # fmt: skip


def test_operators_are_at_home_in_their_organization() -> None:
    assert [reader.is_guest for reader in readers(Principal(PUBLIC, role="staff"), PUBLIC)] == [False]


def test_without_operators_there_is_one_organization() -> None:
    assert [reader.organization_id for reader in readers(Principal(MINE), None)] == [MINE]
