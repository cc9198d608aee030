"""The one place where a message's fate is decided: done, put aside, or tried again."""

from __future__ import annotations

from services.chassis.delivery.consuming import Delivery
from services.chassis.delivery.dead_letters import TooManyDeadLetters
from services.chassis.delivery.records import Handler, Received

__all__ = ["Delivery", "Handler", "Received", "TooManyDeadLetters"]
