"""The query service as commands see it."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast
from uuid import UUID

import httpx

from schemas.codes import Code
from services.cli.addresses import service_url
from services.cli.failures import REFUSED, CommandFailed
from services.cli.organizations import organization_id
from services.cli.settings import CommandSettings

Json = dict[str, Any]

_POLL_SECONDS = 0.2
_PAGE = 200


class Client:
    """Requests on behalf of one organization. Every method raises CommandFailed with the code of the answer."""

    def __init__(self, settings: CommandSettings, organization: str | None) -> None:
        headers = {}
        if organization:
            headers["x-organization"] = str(organization_id(organization))
        if settings.api_key:
            headers["authorization"] = f"Bearer {settings.api_key.get_secret_value()}"
        self.url = service_url(settings)
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=60.0, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def call(self, method: str, path: str, **request: Any) -> Json:
        """The answer's JSON."""
        try:
            response = self._http.request(method, path, **request)
        except httpx.TransportError as error:
            raise CommandFailed(Code.SEARCH_UNAVAILABLE, f"no answer from {self.url}: {error}") from error
        try:
            content = response.json() if response.content else {}
        except ValueError:
            content = {}
        if response.is_success:
            return cast(Json, content)
        code = content.get("code", Code.INTERNAL)
        raise CommandFailed(code, content.get("detail") or f"HTTP {response.status_code} from {self.url}{path}")

    def pages(self, path: str, **parameters: Any) -> Iterator[Json]:
        """Every item of a list."""
        given = {name: value for name, value in parameters.items() if value is not None}
        while True:
            page = self.call("GET", path, params={"limit": _PAGE, **given})
            yield from page["items"]
            if not page.get("next_cursor"):
                return
            given["cursor"] = page["next_cursor"]

    def knowledge_base(self, wanted: str | None) -> str:
        """Id of a knowledge base by id or name; the organization's own default for None."""
        if wanted is not None:
            try:
                return str(UUID(wanted))
            except ValueError:
                pass
        for base in self.call("GET", "/v1/knowledge-bases")["items"]:
            if base["is_default"] if wanted is None else base["name"] == wanted:
                return str(base["id"])
        raise CommandFailed(Code.NOT_FOUND, f"no knowledge base {wanted or 'of the organization'}")

    def add_file(self, base: str, file: Path, fields: Json) -> Json:
        """Upload a file."""
        media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        form = {name: str(value).lower() if isinstance(value, bool) else value for name, value in fields.items()}
        with file.open("rb") as body:
            files = {"file": (file.name, body, media_type)}
            return self.call("POST", f"/v1/knowledge-bases/{base}/sources", data=form, files=files)

    def wait(self, source: str, seconds: float) -> Json:
        """The source when it is ready. Raises CommandFailed with its code if it failed, or if it takes too long."""
        deadline = time.monotonic() + seconds
        while True:
            found = self._source_or_none(source)
            if found and found["status"] == "failed":
                raise CommandFailed(found["error"]["code"], found["error"]["reason"] or "", REFUSED)
            if found and found["status"] in ("ready", "archived"):
                return found
            if time.monotonic() > deadline:
                state = f"{found['status']}, {found['stage']}" if found else "not taken"
                raise CommandFailed(Code.LEASE_LOST, f"source {source} is not ready after {seconds:g} s: {state}")
            time.sleep(_POLL_SECONDS)

    def _source_or_none(self, source: str) -> Json | None:
        try:
            return self.call("GET", f"/v1/sources/{source}")
        except CommandFailed as failure:
            if failure.code != Code.NOT_FOUND:
                raise
            return None
