"""Settings of fetching come from the environment and are described."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from pydantic import ValidationError

from services.fetcher.http.settings import FetchSettings


def test_lists_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_FETCH_ALLOW_NETWORKS", "10.0.0.0/8, fd00::/8,192.168.1.7")
    monkeypatch.setenv("KB_FETCH_PORTS", "80,443")
    settings = FetchSettings()
    assert settings.allow_networks == (ip_network("10.0.0.0/8"), ip_network("fd00::/8"), ip_network("192.168.1.7/32"))
    assert settings.ports == (80, 443)


def test_nothing_private_is_allowed_by_default() -> None:
    assert FetchSettings().allow_networks == ()


def test_every_field_is_described() -> None:
    assert all(field.description for field in FetchSettings.model_fields.values())


@pytest.mark.parametrize("value", ["", "a\r\nX: y", "é"])
def test_a_user_agent_is_a_header_value(value: str) -> None:
    with pytest.raises(ValidationError):
        FetchSettings(user_agent=value)
