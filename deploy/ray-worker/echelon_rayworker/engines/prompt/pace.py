"""A token bucket that is never overdrawn: calls start so far apart that a rate per minute is kept."""

from __future__ import annotations

import asyncio
import time
from typing import Callable


class Pace:
    """A rate of requests, or of tokens, per minute. 0: no limit but what `hold` asks for."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._clock = clock
        self._free_at = clock()

    def reserve(self, amount: float) -> float:
        """Takes an amount; returns after how many seconds it may be used."""
        now = self._clock()
        start = max(now, self._free_at)
        if self._per_second:
            self._free_at = start + amount / self._per_second
        return start - now

    def correct(self, difference: float) -> None:
        """Says that a reservation used more than its amount, or less if negative."""
        if self._per_second:
            self._free_at += difference / self._per_second

    def hold(self, seconds: float) -> None:
        """Nothing may start for so long."""
        self._free_at = max(self._free_at, self._clock() + seconds)

    async def take(self, amount: float) -> None:
        """Waits until the amount may be used."""
        wait = self.reserve(amount)
        if wait > 0:
            await asyncio.sleep(wait)
