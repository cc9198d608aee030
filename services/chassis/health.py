"""Liveness means progress: a process that only answers is not alive."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from aiokafka.errors import KafkaError

from services.chassis import metrics
from services.chassis.delivery import Delivery

STUCK_SECONDS = 120.0
"""Without progress for so long, though there is something to do and nothing to wait for, a consumer is stuck."""


@dataclass
class Health:
    """What the endpoints tell. `problems` of liveness call for a restart."""

    delivery: Delivery | None = None
    handler_timeout: float = 900.0
    started: bool = False
    stopping: bool = False
    _lag: dict[tuple[str, str], int] = field(default_factory=dict)

    def problems(self) -> list[str]:
        """Why the process is not alive; empty when it is."""
        if not self.started or self.stopping or self.delivery is None:
            return []
        found = [] if self.delivery.loops_alive() else ["a consumer's loop has ended"]
        for window in self.delivery.windows:
            quiet = time.monotonic() - window.last_progress
            name = window.topic.name
            if window.pauser.paused:
                continue
            if window.in_hand and quiet > self.handler_timeout + STUCK_SECONDS:
                found.append(f"{name}: {window.in_hand} messages in hand and none done for {quiet:.0f} s")
            if not window.in_hand and self._lag.get((name, window.group)) and quiet > STUCK_SECONDS:
                found.append(f"{name}: messages wait, and none was taken up for {quiet:.0f} s")
        return found

    def waiting_for(self) -> list[str]:
        """Groups that wait for a dependency."""
        windows = self.delivery.windows if self.delivery else []
        return sorted({window.group for window in windows if window.pauser.paused})

    async def sample_lag(self) -> None:
        """Measure the lag of all partitions that this process has: the end offsets less the committed ones."""
        for window, consumer in self.delivery.consumers() if self.delivery else []:
            assigned = list(consumer.assignment())
            try:
                ends = await consumer.end_offsets(assigned) if assigned else {}
                # Where the reading stands, less what is in hand: a transaction's marker is never committed.
                read = {partition: await consumer.position(partition) for partition in assigned}
            except (KafkaError, TimeoutError):
                continue
            total = 0
            for partition, end in ends.items():
                lag = max(0, end - read[partition]) + window.in_hand_of(partition)
                metrics.LAG.labels(window.topic.name, window.group, partition.partition).set(lag)
                total += lag
            self._lag[window.topic.name, window.group] = total
