"""Which offsets of a partition may be committed, when messages end in any order."""

from __future__ import annotations

from collections import deque


class PartitionProgress:
    """Offsets of one partition that were taken up, in order, and which of them are done.

    The offset to commit is that of the first message that is not done: all before it are.
    """

    def __init__(self) -> None:
        self._taken: deque[int] = deque()
        self._done: set[int] = set()
        self._next: int | None = None
        self.committed: int | None = None

    def take(self, offset: int) -> None:
        """A message with a higher offset than all before is being worked on."""
        self._taken.append(offset)

    def finish(self, offset: int) -> None:
        """The message is done for good."""
        self._done.add(offset)
        while self._taken and self._taken[0] in self._done:
            first = self._taken.popleft()
            self._done.discard(first)
            self._next = first + 1

    @property
    def due(self) -> int | None:
        """The offset to commit, where it is not committed yet."""
        return None if self._next == self.committed else self._next

    @property
    def in_hand(self) -> int:
        """Messages that are taken and not done."""
        return len(self._taken) - len(self._done)
