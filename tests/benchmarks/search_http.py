"""The same questions through the service, whose process is not that of the client."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from services.chassis.embedded.ports import free_port
from tests.benchmarks.search_rounds import Asker, percentiles
from tests.benchmarks.texts import ROOT
from tests.support.filled import organization_id


def over_http(dsn: str, workload: Any, asker: Asker) -> dict[str, Any]:
    """Percentiles of a round over HTTP, and of the statement right before it."""
    asked = [(text, vector.tolist(), str(organization_id(org))) for text, vector, org in workload.queries]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "queries.json"
        file.write_text(json.dumps(asked), encoding="utf-8")
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.search_service", dsn, str(file), str(port)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert process.stdout
            keys = json.loads(process.stdout.readline())
            client = http.client.HTTPConnection("127.0.0.1", port)  # which costs next to nothing itself
            _round(client, asked, keys)
            statement = asker.round()
            return {"statement": statement, "http": _round(client, asked, keys)}
        finally:
            process.terminate()
            process.wait(30)


def _round(
    client: http.client.HTTPConnection, asked: list[tuple[str, list[float], str]], keys: dict[str, str]
) -> dict[str, float]:
    taken = []
    for text, _, organization in asked:
        if len(text) < 3:
            continue
        headers = {"authorization": f"Bearer {keys[organization]}", "content-type": "application/json"}
        begun = time.perf_counter()
        client.request("POST", "/v1/search", json.dumps({"query": text}), headers)
        answer = client.getresponse()
        body = answer.read()
        taken.append(1000 * (time.perf_counter() - begun))
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {body.decode()}")
    return percentiles(taken)
