"""Errors as RFC 9457 problem documents, with a code that never changes its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from schemas.codes import CATALOGUE, Code
from services.chassis.errors import DependencyDown, EventRefused, KnowledgeBaseError, RequestRefused, SourceRefused

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
_CODES_OF_STATUS = {
    401: Code.UNAUTHENTICATED,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    405: Code.REQUEST_INVALID,
    409: Code.CONFLICT,
}


class FieldError(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    reason: str


class Problem(BaseModel):
    """An error."""

    type: str = Field(description="URN of the code.")
    title: str = Field(description="What the code means.")
    status: int
    detail: str = Field(description="What was wrong this time.")
    code: str = Field(description="Stable: what programs look at.")
    remedy: str = Field(description="What the caller can do.")
    request_id: str | None = Field(None, description="Names the request in the service's log.")
    errors: list[FieldError] | None = None


def document(
    code: Code, status: int, detail: str, *, request_id: str | None = None, errors: Sequence[FieldError] = ()
) -> bytes:
    """The problem as JSON."""
    advice = CATALOGUE[code]
    problem = Problem(
        type=f"urn:agent-knowledge-base:problem:{code}",
        title=advice.meaning,
        status=status,
        detail=detail,
        code=code,
        remedy=advice.remedy,
        request_id=request_id,
        errors=list(errors) or None,
    )
    return problem.model_dump_json(exclude_none=True).encode()


def responses() -> dict[int | str, dict[str, Any]]:
    """How OpenAPI describes errors, the same for every operation."""
    content = {"content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    described = {
        401: "No valid key.",
        403: "The role does not allow it.",
        404: "No such thing for this caller.",
        409: "Contradicts the present state.",
        422: "The request does not follow the API.",
        503: "Something that is needed does not answer.",
    }
    return {status: {"model": Problem, "description": text, **content} for status, text in described.items()}


def install(app: FastAPI) -> None:
    """Answer every error with a problem document."""
    app.add_exception_handler(KnowledgeBaseError, _of_error)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _of_error)


async def _of_error(request: Request, error: Exception) -> Response:
    code, reason = (
        (error.code, error.reason) if isinstance(error, KnowledgeBaseError) else (Code.INTERNAL, type(error).__name__)
    )
    headers = {}
    status = 500
    if isinstance(error, RequestRefused):
        status = error.status
    elif isinstance(error, DependencyDown):
        log.warning("a dependency is down", code=code, reason=reason)
        # Its own words can name hosts.
        status, reason, headers = 503, CATALOGUE[code].meaning, {"retry-after": str(round(error.after or 1))}
    elif isinstance(error, (SourceRefused, EventRefused)):
        status = 413 if code is Code.EVENT_TOO_LARGE else 422
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    return _answer(request, code, status, reason, headers=headers)


async def _of_validation(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    errors = [FieldError(field=_place(each["loc"]), reason=_printable(each["msg"])) for each in found]
    detail = "; ".join(f"{each.field}: {each.reason}" for each in errors[:5])
    return _answer(request, Code.REQUEST_INVALID, 422, detail, errors=errors)


async def _of_http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = _CODES_OF_STATUS.get(status, Code.REQUEST_INVALID if status < 500 else Code.INTERNAL)
    detail = _printable(str(getattr(error, "detail", "")))
    return _answer(request, code, status, detail, headers=dict(getattr(error, "headers", None) or {}))


def _answer(
    request: Request,
    code: Code,
    status: int,
    detail: str,
    *,
    headers: dict[str, str] | None = None,
    errors: Sequence[FieldError] = (),
) -> Response:
    body = document(code, status, detail, request_id=request.scope.get("request_id"), errors=errors)
    return Response(body, status, headers, MEDIA_TYPE)


def _place(location: Sequence[Any]) -> str:
    return _printable(".".join(str(part) for part in location))[:200]


def _printable(text: str) -> str:
    """What a caller sent can hold surrogates, which JSON can't."""
    return text.encode("utf-8", "replace").decode()
