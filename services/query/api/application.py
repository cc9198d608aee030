"""The application: resources under /v1, problems, and the description at /openapi.json."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from services.chassis.health import Health
from services.query.api import api_keys, errors, knowledge_bases, organizations, problems, queries, searching, sources
from services.query.api.adding import AddedPage, AddedText, FileForm
from services.query.api.frame import Frame
from services.query.api.parts import Parts

RESOURCES = (searching, queries, knowledge_bases, sources, organizations, api_keys, errors)
_TITLE = "Agent knowledge base"
_VERSION = "1"
_REFERENCE = "#/components/schemas/{model}"


def make_app(parts: Parts, health: Health, largest: int) -> Frame:
    """The ASGI application of the service. `largest` bounds the bytes of a request's body."""
    app = FastAPI(title=_TITLE, version=_VERSION, docs_url=None, redoc_url=None, responses=problems.responses())
    app.state.parts = parts
    problems.install(app)
    for resource in RESOURCES:
        app.include_router(resource.router, prefix="/v1")
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]
    return Frame(app, health, largest)


def _description(app: FastAPI) -> dict[str, Any]:
    """FastAPI's, with the bodies that a route reads by itself, and errors in their media type alone."""
    if app.openapi_schema is None:
        found = get_openapi(title=_TITLE, version=_VERSION, routes=app.routes)
        _, bodies = models_json_schema(
            [(model, "validation") for model in (AddedPage, AddedText, FileForm)], ref_template=_REFERENCE
        )
        found["components"]["schemas"] |= bodies["$defs"]
        for operations in found["paths"].values():
            for operation in operations.values():
                for status, response in operation["responses"].items():
                    if int(status) >= 400:
                        response["content"].pop("application/json", None)
        app.openapi_schema = found
    return app.openapi_schema
