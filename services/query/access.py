"""Who may see what: the one place that turns a principal into what SQL is asked with.

`readable_source` and `readable_knowledge_base` of the schema hold the predicate; every statement that shows or searches
sources begins with one of them, under the row-level security of the reader's organization. Filters only narrow it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Role = Literal["agent", "member", "admin", "staff"]
Audience = Literal["internal", "public"]

WRITERS: frozenset[Role] = frozenset({"member", "admin", "staff"})
MANAGERS: frozenset[Role] = frozenset({"admin"})
SEE_UNPUBLISHED: frozenset[Role] = frozenset({"admin", "staff"})


@dataclass(frozen=True, slots=True)
class Principal:
    """On whose behalf a request is made. An answer for a public audience holds nothing unpublished, whoever asks."""

    organization_id: UUID
    profile_id: UUID | None = None
    role: Role = "agent"
    audience: Audience = "internal"
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """A principal's view of one organization."""

    organization_id: UUID
    profile_id: UUID | None
    sees_unpublished: bool
    is_guest: bool

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `readable_source` and `readable_knowledge_base`, by the names that statements use."""
        return {
            "organization": self.organization_id,
            "profile": self.profile_id,
            "sees_unpublished": self.sees_unpublished,
            "is_guest": self.is_guest,
        }


def own_reader(principal: Principal) -> Reader:
    """The view of the principal's own organization, which is the only one that it can write in."""
    sees_unpublished = principal.role in SEE_UNPUBLISHED and principal.audience == "internal"
    return Reader(principal.organization_id, principal.profile_id, sees_unpublished, is_guest=False)


def readers(principal: Principal, public_organization: UUID | None) -> tuple[Reader, ...]:
    """The views of all organizations of which the principal can see something, its own first."""
    own = own_reader(principal)
    if public_organization is None or public_organization == principal.organization_id:
        return (own,)
    return own, Reader(public_organization, profile_id=None, sees_unpublished=False, is_guest=True)
