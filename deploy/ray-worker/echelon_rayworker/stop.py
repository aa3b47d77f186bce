"""Stops every running attempt of a ray-worker, for a machine that goes down as a whole.

    python -m echelon_rayworker.stop (--address HOST:PORT --token-file FILE | --state-dir DIR) [--reason TEXT]

With --state-dir: the ray-worker of that directory, on loopback or under the names of its certificate, if there is one.
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


def stop_all(address: str, token: str, reason: str, certificate: bytes = b"") -> int:
    """Stops the attempts that run at ``address`` and returns how many there were. grpc.RpcError if it cannot.
    ``certificate``: PEM of the ray-worker's own, if it serves by TLS."""
    metadata = (("authorization", f"Bearer {token}"),)
    with _channel(address, certificate) as channel:
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
    if arguments.state_dir:
        print(_stop_by_state(arguments.state_dir, arguments.reason))
    elif arguments.address and arguments.token_file:
        print(stop_all(arguments.address, _read(arguments.token_file), arguments.reason))
    else:
        parser.error("--address and --token-file, or --state-dir")


def _stop_by_state(state_dir: str, reason: str) -> int:
    """Asks wherever the ray-worker of this directory may listen: by TLS under the names of its certificate, and on
    loopback, which needs none."""
    try:
        port, token = _read(os.path.join(state_dir, "port")), _read(os.path.join(state_dir, "token"))
    except FileNotFoundError:
        return 0
    places = [(f"127.0.0.1:{port}", b"")]
    try:
        with open(os.path.join(state_dir, "tls.crt"), "rb") as file:
            certificate = file.read()
        names = _read(os.path.join(state_dir, "tls.names")).replace(",", " ").split()
        hosts = [name.partition(":")[2] for name in names]
        places += [(f"[{host}]:{port}" if ":" in host else f"{host}:{port}", certificate) for host in hosts]
    except FileNotFoundError:
        pass
    for address, known in places:
        try:
            return stop_all(address, token, reason, known)
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
    print(f"nothing listens at {', '.join(address for address, _ in places)}", file=sys.stderr)
    return 0


def _channel(address: str, certificate: bytes) -> grpc.Channel:
    if not certificate:
        return grpc.insecure_channel(address)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(certificate))


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


if __name__ == "__main__":
    main()
