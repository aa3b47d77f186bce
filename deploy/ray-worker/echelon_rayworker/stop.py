"""Stops every running attempt of a ray-worker, for a machine that goes down as a whole.

    python -m echelon_rayworker.stop (--address HOST:PORT --token-file FILE | --state-dir DIR) [--reason TEXT]

With --state-dir: the ray-worker that listens on this machine's loopback address with that directory, if one ever did.
Drivers get SIGTERM and their plan's grace period; returns when all have ended.
"""

from __future__ import annotations

import argparse
import os
import sys
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
    parser.add_argument("--address", help="HOST:PORT of the ray-worker")
    parser.add_argument("--token-file")
    parser.add_argument("--state-dir", help="instead of both: the ray-worker's own directory")
    parser.add_argument("--reason", default="the machine goes down")
    arguments = parser.parse_args()
    address, token_file = arguments.address, arguments.token_file
    if arguments.state_dir:
        token_file = os.path.join(arguments.state_dir, "token")
        try:
            address = f"127.0.0.1:{_read(os.path.join(arguments.state_dir, 'port'))}"
        except FileNotFoundError:
            print(0)
            return
    elif not (address and token_file):
        parser.error("--address and --token-file, or --state-dir")
    try:
        print(stop_all(address, _read(token_file), arguments.reason))
    except grpc.RpcError as error:
        if not arguments.state_dir or error.code() != grpc.StatusCode.UNAVAILABLE:
            raise
        print(f"nothing listens at {address}", file=sys.stderr)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


if __name__ == "__main__":
    main()
