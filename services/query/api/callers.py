"""Who calls, and what the role allows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, cast
from uuid import UUID

from fastapi import Depends, Header, Request

from schemas.codes import Code
from services.chassis.errors import RequestRefused
from services.query.access import MANAGERS, SEE_UNPUBLISHED, WRITERS, Principal, Role
from services.query.api.parts import Parts

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


async def parts_of(request: Request) -> Parts:  # FastAPI runs what is not async in a thread, which takes its time
    """What the application is made of."""
    return cast(Parts, request.app.state.parts)


Application = Annotated[Parts, Depends(parts_of)]


async def caller(
    request: Request,
    parts: Application,
    authorization: Annotated[str | None, Header(description="`Bearer` and a key.")] = None,
    x_organization: Annotated[UUID | None, Header(description="When the service is open, without keys.")] = None,
) -> Principal:
    """The principal of the request. Raises RequestRefused(UNAUTHENTICATED)."""
    if parts.access.open:
        return await _anyone(request, parts, x_organization)
    scheme, _, key = (authorization or "").partition(" ")
    principal = await parts.keys.principal_of(key.strip()) if scheme.lower() == "bearer" else None
    if principal is None:
        raise RequestRefused(Code.UNAUTHENTICATED, "the header Authorization holds no valid key", status=401)
    return principal


async def _anyone(request: Request, parts: Parts, organization_id: UUID | None) -> Principal:
    # A page of the web can send requests to this machine's ports, but under the name of its own host.
    if request.url.hostname not in LOOPBACK:
        raise RequestRefused(Code.UNAUTHENTICATED, "an open service is called by a loopback address", status=401)
    principal = Principal(organization_id or parts.access.organization, role="admin")
    if principal.organization_id not in parts.known_organizations:
        await parts.library.ensure_organization(principal.organization_id)
        parts.known_organizations.add(principal.organization_id)
    return principal


Caller = Annotated[Principal, Depends(caller)]


def _allowed(roles: frozenset[Role]) -> Callable[[Principal], Awaitable[Principal]]:
    async def check(principal: Caller) -> Principal:
        if principal.role not in roles:
            raise RequestRefused(Code.FORBIDDEN, f"needs one of the roles {', '.join(sorted(roles))}", status=403)
        return principal

    return check


Writer = Annotated[Principal, Depends(_allowed(WRITERS))]
Manager = Annotated[Principal, Depends(_allowed(MANAGERS))]


def check_unpublished(principal: Principal, is_public: bool | None) -> None:
    """Who makes a source unpublished has to be able to see it afterwards. Raises RequestRefused(FORBIDDEN)."""
    if is_public is False and principal.role not in SEE_UNPUBLISHED:
        raise RequestRefused(Code.FORBIDDEN, "only staff sees what is not public", status=403)


async def event_id(
    request: Request,
    idempotency_key: Annotated[
        str | None, Header(max_length=200, pattern=r"^[\x21-\x7e]+$", description="The same key is carried out once.")
    ] = None,
) -> str | None:
    """Id of the event that the request leads to: the key within method and path. The ledger adds the organization."""
    return f"{request.method} {request.url.path} {idempotency_key}" if idempotency_key else None


EventId = Annotated[str | None, Depends(event_id)]
