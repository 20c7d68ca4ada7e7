"""Whether a worker is well, slow or dead: the table, line by line."""

import pytest

from agentruntime.operations.health import judge
from agentruntime.persistence.fleet import Seen

BEAT = 3.0


def seen(**facts):
    names = {
        "id": "w1",
        "status": "processing",
        "age": 1.0,
        "beat_seconds": BEAT,
        "still_seconds": 0.0,
        "loop_lag_ms": 2.0,
        "lease_left": 10.0,
        "has_session": True,
    }
    return Seen(**{**names, **facts})


@pytest.mark.parametrize(
    ("facts", "health"),
    [
        ({}, "healthy"),
        ({"lease_left": None, "status": "idle"}, "healthy"),
        ({"age": 2 * BEAT}, "healthy"),
        ({"age": 2 * BEAT + 0.1}, "degraded"),
        ({"age": 5 * BEAT}, "degraded"),
        ({"age": 5 * BEAT + 0.1}, "unhealthy"),
        ({"still_seconds": 5 * BEAT}, "healthy"),
        ({"still_seconds": 5 * BEAT + 0.1}, "degraded"),
        ({"loop_lag_ms": 1000.0}, "healthy"),
        ({"loop_lag_ms": 1000.1}, "degraded"),
        ({"status": "error"}, "unhealthy"),
        ({"lease_left": 0.0}, "dead"),
        ({"lease_left": -3.0, "age": 0.5}, "dead"),
        ({"has_session": False, "age": 2 * BEAT + 0.1}, "dead"),
        ({"has_session": False, "age": 1.0}, "healthy"),
    ],
)
def test_the_worst_that_is_true_counts(facts, health):
    verdict = judge(seen(**facts))

    assert verdict.health == health
    assert bool(verdict.reason) == (health != "healthy")


@pytest.mark.parametrize("still", [10.0, 1e6])
def test_a_slow_step_alone_is_never_death(still):
    assert judge(seen(still_seconds=still, loop_lag_ms=900.0)).health in {"healthy", "degraded"}
