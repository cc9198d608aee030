"""Organizations by name."""

from __future__ import annotations

from uuid import UUID, uuid4, uuid5

import pytest

from schemas.identifiers import NAMESPACE
from services.cli.failures import CommandFailed
from services.cli.organizations import organization_id


def test_a_uuid_is_taken_as_it_is() -> None:
    wanted = uuid4()
    assert organization_id(str(wanted)) == wanted


def test_a_name_always_leads_to_the_same_uuid() -> None:
    assert organization_id("acme") == uuid5(NAMESPACE, "organization:acme")
    assert organization_id("acme") != organization_id("acme-2")
    assert isinstance(organization_id("a.b_c-9"), UUID)


@pytest.mark.parametrize("name", ["", "Acme", "a b", "-a", "ä", "x" * 64])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(CommandFailed, match="REQUEST_INVALID"):
        organization_id(name)
