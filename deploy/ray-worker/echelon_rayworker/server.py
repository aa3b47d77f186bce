"""Serves the ray-worker.

    python -m echelon_rayworker.server --state-dir DIR [--shared-root DIR] [--listen HOST:PORT] [--token-file FILE]
                                       [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE]]

runs it without Ray and prints one line of JSON, ``{"address": …, "version": …, "generation": …}``, when it listens.
SIGTERM and SIGINT end it; attempts run on.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable, Mapping, Optional

import grpc

from echelon_rayworker import __version__, launch
from echelon_rayworker.attempts import AttemptStore
from echelon_rayworker.autoscale import Ask, Autoscaler
from echelon_rayworker.files import lock_file, make_directories, write_file
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.redaction import MIN_CHARACTERS
from echelon_rayworker.secretstore import DIRECTORY_VARIABLE, SecretStore, secrets_directory
from echelon_rayworker.owner import Owner
from echelon_rayworker.preflight import Preflight
from echelon_rayworker.service import ClusterView, RayWorkerService

TOKEN_VARIABLE = "ECHELON_RAY_WORKER_TOKEN"
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
# Of all clients together, the streams of a dispatcher's attempts among them; and on one connection.
MAX_CALLS = 8192
MAX_STREAMS_OF_CONNECTION = 4096
MAX_CONNECTIONS = 1024
# What one connection may send before it is read.
READ_AHEAD_BYTES = 64 * 1024
BLOCKING_THREADS = 64
SWEEP_SECONDS = 1.0
# A predecessor that was just killed may hold the state directory and the port for a moment.
TAKE_OVER_SECONDS = 30.0
# Pings: ours find a half-open connection within 15 s; the client's are allowed every 5 s, without calls too (a
# stock server answers such pings with GOAWAY "too many pings").
CHANNEL_OPTIONS = (
    ("grpc.keepalive_time_ms", 9_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # A client that is frozen for longer finds its connection closed with ENHANCE_YOUR_CALM, which gRPC libraries report
    # as RESOURCE_EXHAUSTED. No allowance for pings prevents that: it is the answer to our own ping that is missing.
    # Recent releases of grpcio wait this long, a minute by default, for the answer to any ping, keepalive too.
    ("grpc.http2.ping_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 4_000),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", MAX_STREAMS_OF_CONNECTION),
    # Of recent releases of grpcio; others ignore it.
    ("grpc.max_allowed_incoming_connections", MAX_CONNECTIONS),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", READ_AHEAD_BYTES),
    ("grpc.so_reuseport", 0),
)


@dataclass(frozen=True)
class ServerOptions:
    """All options of a ray-worker. ``port`` 0: the one of the state directory's first start, else a free
    one. ``token`` empty: the state directory's own, made at the first start."""

    state_dir: str
    shared_root: str
    host: str = "127.0.0.1"
    port: int = 0
    advertised_host: str = ""
    token: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    ray_address: str = ""
    inside_ray: bool = False
    secrets_dir: str = ""


def read_token(options_token: str, token_file: str, environment: Mapping[str, str]) -> str:
    """The token that was given: as it is, in a file, or in ECHELON_RAY_WORKER_TOKEN; empty if none was.

    Refuses an empty file: the ray-worker would make a token of its own, which no dispatcher knows."""
    if token_file:
        with open(token_file, encoding="utf-8") as file:
            token = file.read().strip()
        if not token:
            raise SystemExit(f"error: the token file {token_file} is empty")
        return token
    return options_token or environment.get(TOKEN_VARIABLE, "").strip()


class RayWorkerServer:
    """One ray-worker on one state directory; to be used from one event loop."""

    def __init__(
        self, options: ServerOptions, view_cluster: Optional[Callable[[], ClusterView]] = None, ask: Optional[Ask] = None
    ) -> None:
        """``ask``: asks the autoscaler of the cluster. Default: there is none."""
        self._options = options
        self._view_cluster = view_cluster or view_this_machine
        self._autoscaler = Autoscaler(ask or (lambda _bundles: None))
        self._executor = ThreadPoolExecutor(BLOCKING_THREADS, thread_name_prefix="echelon-call")
        self._server: Optional[grpc.aio.Server] = None
        self._sweeper: Optional[asyncio.Task] = None
        self._preflight: Optional[Preflight] = None
        self._lock = -1
        self._endpoint: dict[str, str] = {}
        self._token = ""

    @property
    def options(self) -> ServerOptions:
        """The options of this server."""
        return self._options

    @property
    def token(self) -> str:
        """The token that a started server accepts; not to be shown to anybody who is not authenticated."""
        return self._token

    @property
    def endpoint(self) -> dict[str, str]:
        """Address, version and generation of a started server."""
        return dict(self._endpoint)

    async def start(self) -> None:
        """Takes the state directory, finds its attempts again and listens. RuntimeError where another ray-worker
        keeps the state directory or another program the port."""
        options = self._options
        make_directories(os.path.abspath(options.state_dir))
        lock_path = os.path.join(options.state_dir, "ray-worker.lock")
        lock = await asyncio.to_thread(lock_file, lock_path, TAKE_OVER_SECONDS)
        if lock is None:
            raise RuntimeError(f"another ray-worker uses the state directory {options.state_dir}")
        self._lock = lock
        view = await asyncio.to_thread(self._view_cluster)
        environment = launch.base_environment(os.environ, options.ray_address, options.inside_ray)
        self._token = options.token or _state_token(options.state_dir)
        # Made at once, for its owner alone, so that it need only be filled.
        make_directories(os.path.join(os.path.abspath(options.state_dir), "secrets"))
        directory = secrets_directory(options.secrets_dir, os.environ, options.state_dir)
        store = AttemptStore(
            options.state_dir, options.shared_root, node_id=view.node_id, environment=environment,
            secrets=SecretStore(directory, os.environ), masked=_own_secrets(self._token, os.environ),
        )
        self._preflight = Preflight(options.state_dir, options.shared_root, environment, bool(options.ray_address))
        owner = Owner(options.state_dir)
        service = RayWorkerService(
            store, owner, self._token, self._executor, self._view_cluster, self._preflight.run, self._autoscaler
        )
        # Before the first call, so that no call meets an attempt whose supervisor died while no ray-worker ran.
        await asyncio.get_running_loop().run_in_executor(self._executor, store.sweep)
        port = await self._listen(service)
        self._sweeper = asyncio.create_task(self._sweep(store))
        host = options.advertised_host or options.host
        self._endpoint = {"address": f"{host}:{port}", "version": __version__, "generation": store.generation}

    async def stop(self) -> None:
        """Closes the server; attempts run on."""
        if self._preflight:
            self._preflight.close()
        if self._sweeper:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper
        if self._server:
            await self._server.stop(grace=0.2)
        self._executor.shutdown(wait=False)
        if self._lock >= 0:
            os.close(self._lock)

    async def _listen(self, service: RayWorkerService) -> int:
        port_path = os.path.join(self._options.state_dir, "port")
        port = self._options.port or _read_port(port_path)
        deadline = asyncio.get_running_loop().time() + (TAKE_OVER_SECONDS if port else 0)
        while True:
            server = grpc.aio.server(options=CHANNEL_OPTIONS, maximum_concurrent_rpcs=MAX_CALLS)
            server.add_generic_rpc_handlers((service,))
            try:
                bound = self._add_port(server, f"{self._options.host}:{port}")
                if bound:
                    break
            except RuntimeError:
                if asyncio.get_running_loop().time() > deadline:
                    raise
            await asyncio.sleep(0.2)
        await server.start()
        self._server = server
        write_file(port_path, str(bound).encode())
        return bound

    def _add_port(self, server: grpc.aio.Server, address: str) -> int:
        options = self._options
        if not options.tls_cert:
            return server.add_insecure_port(address)
        client_ca = _read(options.tls_client_ca) if options.tls_client_ca else None
        credentials = grpc.ssl_server_credentials(
            [(_read(options.tls_key), _read(options.tls_cert))], client_ca, client_ca is not None
        )
        return server.add_secure_port(address, credentials)

    async def _sweep(self, store: AttemptStore) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await loop.run_in_executor(self._executor, store.sweep)
            with contextlib.suppress(Exception):  # Ray may be gone; the next round tries again
                await loop.run_in_executor(self._executor, self._autoscaler.expire)


def view_this_machine() -> ClusterView:
    """The cluster as it is without Ray: this machine."""
    cpus = float(len(os.sched_getaffinity(0)))
    node = pb.Node(id="local", address="127.0.0.1", alive=True, cpus_total=cpus, cpus_available=cpus)
    return ClusterView(node_id="local", nodes=[node])


def _state_token(state_dir: str) -> str:
    path = os.path.join(state_dir, "token")
    if not os.path.exists(path):
        write_file(path, secrets.token_urlsafe(32).encode())
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def _own_secrets(token: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Tokens that a driver could find on this machine though it is not given them."""
    found = [token, environment.get("RAY_AUTH_TOKEN", "")]
    default_path = os.path.expanduser("~/.ray/auth_token")
    try:
        found.append(_read(environment.get("RAY_AUTH_TOKEN_PATH", "") or default_path).decode().strip())
    except (OSError, UnicodeDecodeError):
        pass
    return tuple(value for value in found if len(value) >= MIN_CHARACTERS)


def _read_port(path: str) -> int:
    try:
        return int(_read(path))
    except (OSError, ValueError):
        return 0


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that the server and the actor's start have in common."""
    parser.add_argument("--state-dir", required=True, help="where attempts and their logs are kept")
    parser.add_argument("--shared-root", default="", help="the file system that all nodes see (default: STATE_DIR)")
    parser.add_argument("--listen", default="127.0.0.1:0", help="HOST:PORT; port 0 is chosen once and then kept")
    parser.add_argument("--advertise", default="", help="the host that clients connect to (default: that of --listen)")
    parser.add_argument("--token-file", default="", help=f"file with the token (default: ${TOKEN_VARIABLE}, else one is "
                        "made in STATE_DIR/token)")
    parser.add_argument("--secrets-dir", default="", help="a file for each secret that a spec may name (default: "
                        f"${DIRECTORY_VARIABLE}, else STATE_DIR/secrets)")
    for name in ("cert", "key", "client-ca"):
        parser.add_argument(f"--tls-{name}", default="", help="PEM file")


def options_from(arguments: argparse.Namespace) -> ServerOptions:
    """Server options from parsed arguments; SystemExit with a sentence if they contradict one another."""
    host, _, port = arguments.listen.rpartition(":")
    if not host or not port.isdigit():
        raise SystemExit("--listen: HOST:PORT")
    if bool(arguments.tls_cert) != bool(arguments.tls_key):
        raise SystemExit("--tls-cert and --tls-key go together")
    state_dir = os.path.abspath(arguments.state_dir)
    return ServerOptions(
        state_dir=state_dir, shared_root=os.path.abspath(arguments.shared_root or state_dir), host=host,
        port=int(port), advertised_host=arguments.advertise,
        token=read_token("", arguments.token_file, os.environ), secrets_dir=arguments.secrets_dir,
        tls_cert=arguments.tls_cert, tls_key=arguments.tls_key, tls_client_ca=arguments.tls_client_ca,
    )


async def _serve(options: ServerOptions) -> None:
    server = RayWorkerServer(options)
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await server.start()
    print(json.dumps(server.endpoint), flush=True)
    await ended.wait()
    await server.stop()


def main() -> None:
    """Runs the ray-worker without Ray."""
    parser = argparse.ArgumentParser(prog="python -m echelon_rayworker.server", description="Serve the ray-worker.")
    add_server_arguments(parser)
    parser.add_argument("--ray-address", default=os.environ.get("RAY_ADDRESS", ""), help="RAY_ADDRESS of the drivers")
    arguments = parser.parse_args()
    options = options_from(arguments)
    asyncio.run(_serve(ServerOptions(**{**options.__dict__, "ray_address": arguments.ray_address})))


if __name__ == "__main__":
    main()
