from __future__ import annotations

from services.chassis.embedded.supervisor import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, pause


def test_pauses_double_up_to_a_cap() -> None:
    pauses = [pause(crashes) for crashes in range(1, 2000)]
    assert pauses[:3] == [FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE_SECONDS
