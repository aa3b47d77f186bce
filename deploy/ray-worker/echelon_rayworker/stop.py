"""Stops every running attempt of a ray-worker, for a machine that goes down as a whole.

    python -m echelon_rayworker.stop --address HOST:PORT --token-file FILE [--reason TEXT]

Drivers get SIGTERM and their plan's grace period; returns when all have ended.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor

import grpc

from echelon_rayworker.gen import rayworker_pb2 as pb

_SERVICE = "/echelon.rayworker.v1.RayWorker"
# Above the longest a stop may take beyond its grace period.
_MARGIN_SECONDS = 60.0


def stop_all(address: str, token: str, reason: str) -> int:
    """Stops the attempts that run at ``address`` and returns how many there were. grpc.RpcError where it cannot."""
    metadata = (("authorization", f"Bearer {token}"),)
    with grpc.insecure_channel(address) as channel:
        list_attempts = channel.unary_unary(
            f"{_SERVICE}/List", pb.ListRequest.SerializeToString, pb.ListResponse.FromString
        )
        stop_attempt = channel.unary_unary(
            f"{_SERVICE}/Stop", pb.StopRequest.SerializeToString, pb.StopResponse.FromString
        )
        known = list_attempts(pb.ListRequest(), metadata=metadata, timeout=10.0).attempts
        requests = [
            pb.StopRequest(experiment=status.experiment, attempt=status.attempt, reason=reason)
            for status in known
            if status.running
        ]
        with ThreadPoolExecutor(max_workers=32) as threads:
            for _ in threads.map(lambda one: stop_attempt(one, metadata=metadata, timeout=_MARGIN_SECONDS), requests):
                pass
    return len(requests)


def main() -> None:
    """Prints how many attempts were stopped."""
    parser = argparse.ArgumentParser(prog="python -m echelon_rayworker.stop", description=__doc__.split("\n\n")[0])
    parser.add_argument("--address", required=True, help="HOST:PORT of the ray-worker")
    parser.add_argument("--token-file", required=True)
    parser.add_argument("--reason", default="the machine goes down")
    arguments = parser.parse_args()
    with open(arguments.token_file, encoding="utf-8") as file:
        token = file.read().strip()
    print(stop_all(arguments.address, token, arguments.reason))


if __name__ == "__main__":
    main()
