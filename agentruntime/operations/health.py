"""How a worker is, from what the database knows of it: pure, a table. No clock, no database.

Slow is not dead: only who has lost its leases or its connections is, and only its runs go elsewhere.
"""

from dataclasses import dataclass
from typing import Literal

from agentruntime.persistence.fleet import SLOW_LOOP_MS, Seen

Health = Literal["healthy", "degraded", "unhealthy", "dead"]

# In beats.
LATE = 2
TOO_LATE = 5
STILL = 5


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """health, and why in words for the people who run the site."""

    health: Health
    reason: str = ""


def judge(seen: Seen) -> Verdict:
    """The worst that is true of a worker."""
    return _dead(seen) or _unhealthy(seen) or _degraded(seen) or Verdict(health="healthy")


def _dead(seen: Seen) -> Verdict | None:
    is_late = seen.age > LATE * seen.beat_seconds
    if is_late and not seen.has_session:
        return Verdict(health="dead", reason=f"no heartbeat for {seen.age:.0f} s, no connection")
    if seen.lease_left is not None and seen.lease_left <= 0:
        return Verdict(health="dead", reason="it could not renew the leases of its threads")
    return None


def _unhealthy(seen: Seen) -> Verdict | None:
    if seen.status == "error":
        return Verdict(health="unhealthy", reason="it says so itself")
    if seen.age > TOO_LATE * seen.beat_seconds:
        return Verdict(health="unhealthy", reason=f"no heartbeat for {seen.age:.0f} s")
    return None


def _degraded(seen: Seen) -> Verdict | None:
    if seen.age > LATE * seen.beat_seconds:
        return Verdict(health="degraded", reason=f"no heartbeat for {seen.age:.0f} s")
    if seen.loop_lag_ms > SLOW_LOOP_MS:
        return Verdict(
            health="degraded", reason=f"its event loop answers after {seen.loop_lag_ms:.0f} ms"
        )
    if seen.still_seconds > STILL * seen.beat_seconds:
        return Verdict(
            health="degraded", reason=f"a step has not moved for {seen.still_seconds:.0f} s"
        )
    return None
