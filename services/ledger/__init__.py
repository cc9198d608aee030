"""The ledger as all stages see it: is this work still wanted, it goes on, it failed, it is to be tried again."""

from __future__ import annotations

from services.ledger.ledger import Ledger, StageName
from services.ledger.stage import Stage

__all__ = ["Ledger", "Stage", "StageName"]
