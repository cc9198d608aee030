"""What holds for the command as a whole."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.unit.cli.conftest import ROOT, Kb

COMMANDS = {
    "up",
    "demo",
    "add",
    "search",
    "parse",
    "chunk",
    "usage",
    "replay",
    "migrate",
    "check",
    "drain",
    "sources",
    "dlq",
}
SLOW = {"aiokafka", "faststream", "fastapi", "httpx", "numpy", "onnxruntime", "psycopg", "pydantic", "structlog"}


def test_help_lists_the_commands(kb: Kb) -> None:
    ended = kb("--help")
    assert ended.code == 0
    assert {line.split()[0] for line in ended.out.splitlines() if line.strip()} >= COMMANDS


def test_help_loads_no_large_library() -> None:
    program = "import json, sys, services.cli.__main__; print(json.dumps(sorted(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True).stdout
    assert not SLOW & set(json.loads(loaded))


def test_an_error_is_a_code_and_a_reason_on_standard_error(kb: Kb) -> None:
    ended = kb("search", "anything")
    assert ended.code == 1
    assert ended.out == ""
    assert ended.error.startswith("SEARCH_UNAVAILABLE: ")


def test_an_error_is_json_where_results_are(kb: Kb) -> None:
    ended = kb("usage", "--json")
    assert ended.code == 1
    assert ended.json["error"]["code"] == "SEARCH_UNAVAILABLE"


def test_an_organization_is_a_uuid_or_a_name(kb: Kb) -> None:
    ended = kb("search", "anything", "--org", "No Such Name")
    assert ended.error.startswith("REQUEST_INVALID: ")


def test_a_broker_that_is_away_is_named(kb: Kb) -> None:
    ended = kb("dlq", "list", KB_KAFKA_BOOTSTRAP="127.0.0.1:1")
    assert ended.code == 1
    assert ended.error.startswith("BROKER_DOWN: ")
    assert len(ended.error.splitlines()) == 1


def test_a_database_that_is_away_is_named(kb: Kb) -> None:
    ended = kb("migrate", KB_POSTGRES_DSN="postgresql://127.0.0.1:1/kb?connect_timeout=2")
    assert ended.code == 1
    assert ended.error.startswith("POSTGRES_DOWN: ")


def test_a_setting_that_does_not_fit_is_named(kb: Kb) -> None:
    ended = kb("search", "anything", KB_PORT="many")
    assert ended.code == 1
    assert "port" in ended.error


def test_check_says_what_is_missing_and_ends_with_1(kb: Kb) -> None:
    ended = kb("check", "--json", KB_MODEL="none", KB_KAFKA_BOOTSTRAP="127.0.0.1:1", KB_POSTGRES_DSN="port=1 host=::1")
    assert ended.code == 1
    found = {each["name"]: (each["state"], each["code"]) for each in ended.json}
    assert found == {
        "postgres": ("error", "POSTGRES_DOWN"),
        "broker": ("error", "BROKER_DOWN"),
        "model": ("warning", "W001"),
        "query": ("error", "SEARCH_UNAVAILABLE"),
    }
