"""What the application is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from services.query.additions import Additions
from services.query.keys import Keys
from services.query.library import Library
from services.query.neighbours import Neighbours
from services.query.query_log.reading import LoggedQueries
from services.query.query_log.writing import QueryLog
from services.query.search import Search
from services.query.settings import AccessSettings
from services.query.wishes import Wishes


@dataclass
class Parts:
    """Put together by the composition root, or by a test."""

    access: AccessSettings
    search: Search
    neighbours: Neighbours
    query_log: QueryLog
    logged_queries: LoggedQueries
    library: Library
    keys: Keys
    wishes: Wishes
    additions: Additions
    known_organizations: set[UUID] = field(default_factory=set)
    """Organizations that were looked after since the start of an open service."""
