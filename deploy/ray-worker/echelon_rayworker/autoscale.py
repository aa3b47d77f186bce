"""Asks Ray's autoscaler for room on nodes: one request for the whole cluster, which replaces the one before."""

from __future__ import annotations

import threading
import time
from typing import Callable, Sequence

from echelon_rayworker.gen import rayworker_pb2 as pb

_REPEAT_SECONDS = 30.0
# Dispatchers repeat the request every few seconds. Without dispatchers, it must not last.
_EXPIRY_SECONDS = 900.0

# The amounts of a bundle, and the labels of its node.
Bundle = tuple[dict[str, float], dict[str, str]]
Ask = Callable[[list[Bundle]], None]


def ask_ray(bundles: list[Bundle]) -> None:
    """Ray compares the bundles with the whole cluster as if nothing ran on it. It is repeated now and then: a replaced head has
    forgotten it."""
    from ray.autoscaler.sdk import request_resources

    amounts, labels = [amount for amount, _ in bundles], [wanted for _, wanted in bundles]
    # Older releases of Ray, and its first autoscaler, know no labels here.
    request_resources(bundles=amounts, **({"bundle_label_selectors": labels} if any(labels) else {}))


class Autoscaler:
    """The request of this ray-worker; to be used from any thread."""

    def __init__(self, ask: Ask, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._elapsed = ask, elapsed
        self._lock = threading.Lock()
        self._last: list[Bundle] = []
        self._sent_at = self._heard_at = float("-inf")

    def request(self, bundles: Sequence[pb.Bundle]) -> None:
        """Replaces the request; no bundles withdraw it. Raises what Ray raises."""
        wanted = [
            ({name: value for name, value in (("CPU", one.cpus), ("GPU", one.gpus)) if value > 0}, dict(one.labels))
            for one in bundles for _ in range(one.count)
        ]  # fmt: skip
        with self._lock:
            self._heard_at = self._elapsed()
            if wanted != self._last or self._heard_at - self._sent_at >= _REPEAT_SECONDS:
                self._send(wanted)

    def expire(self) -> None:
        """Withdraws a request that no dispatcher has repeated for long. To be called now and then."""
        with self._lock:
            if self._last and self._elapsed() - self._heard_at >= _EXPIRY_SECONDS:
                self._send([])

    def _send(self, bundles: list[Bundle]) -> None:
        self._ask(bundles)
        self._last, self._sent_at = bundles, self._elapsed()
