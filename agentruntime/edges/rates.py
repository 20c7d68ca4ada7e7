"""How fast one socket may speak. No clock but the monotonic one it is given."""

import time
from collections.abc import Callable


class TokenBucket:
    """`burst` frames at once, `rate` a second from then on."""

    def __init__(
        self,
        *,
        rate: float,
        burst: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._tokens = burst
        self._at = clock()

    def take(self) -> bool:
        """Whether one more frame is allowed now."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True
