"""The gRPC service: routing, the token, the calls. Generic handlers, so that any grpcio from 1.49 on serves it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import shutil
import sys
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import AsyncIterator, Awaitable, Callable, Mapping, Optional

import grpc

from echelon_rayworker import __version__
from echelon_rayworker.attempts import AttemptStore, Exhausted, NotEnded
from echelon_rayworker.autoscale import Autoscaler
from echelon_rayworker.eventlog import DataLoss, read_progress
from echelon_rayworker.eventreader import EventLogReader, OutOfRange
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.health import health_handlers
from echelon_rayworker.launch import ENGINES, SPEC_VERSIONS, InvalidLaunch, OtherVersion, check_id
from echelon_rayworker.nodehealth import Health
from echelon_rayworker.nodestates import note_states
from echelon_rayworker.owner import Owner
from echelon_rayworker.secretstore import UnusableSecret

SERVICE = "echelon.rayworker.v1.RayWorker"
NO_TOKEN = "a bearer token is needed, and it must be the right one"
# A stream looks for new events this often; one that found none for a while looks less often.
# Tells a lack of disk or processes from a RESOURCE_EXHAUSTED that a gRPC library made of a closed connection.
EXHAUSTED_METADATA = (("echelon-fault", "exhausted"),)
VERSION_METADATA = (("echelon-fault", "version"),)
POLL_SECONDS = 0.01
IDLE_POLL_SECONDS = 0.05
IDLE_AFTER_POLLS = 50


@dataclass(frozen=True)
class ClusterView:
    """What Describe says of the cluster."""

    ray_version: str = ""
    node_id: str = ""
    nodes: list[pb.Node] = field(default_factory=list)
    # By node: the addresses of the pages that tell its health.
    pages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class RayWorkerService(grpc.GenericRpcHandler):
    """Answers the calls of rayworker.proto and of the health service."""

    def __init__(
        self, store: AttemptStore, owner: Owner, token: str, executor: Executor, view_cluster: Callable[[], ClusterView],
        preflight: Callable[[pb.PreflightRequest], pb.PreflightResponse], autoscaler: Autoscaler,
    ) -> None:
        """``executor`` runs what blocks: as many threads as calls shall wait at once."""
        self._store = store
        self._state_dir = store.state_dir
        self._owner = owner
        self._started_at_unix_ms = time.time_ns() // 1_000_000
        self._token = token.encode()
        self._executor = executor
        self._view_cluster = view_cluster
        self._preflight_program = preflight
        self._autoscaler = autoscaler
        # Of its own: preflights take minutes, and wait for one another.
        self._preflights = ThreadPoolExecutor(1, thread_name_prefix="echelon-preflight")
        self._methods = {
            f"/{SERVICE}/Describe": _unary(self._describe, pb.DescribeRequest, pb.DescribeResponse),
            f"/{SERVICE}/Launch": _unary(self._launch, pb.LaunchRequest, pb.LaunchResponse),
            f"/{SERVICE}/Stop": _unary(self._stop, pb.StopRequest, pb.StopResponse),
            f"/{SERVICE}/Forget": _unary(self._forget, pb.ForgetRequest, pb.ForgetResponse),
            f"/{SERVICE}/List": _unary(self._list, pb.ListRequest, pb.ListResponse),
            f"/{SERVICE}/Autoscale": _unary(self._autoscale, pb.AutoscaleRequest, pb.AutoscaleResponse),
            f"/{SERVICE}/Preflight": _unary(self._preflight, pb.PreflightRequest, pb.PreflightResponse),
            # Events go out as the bytes that the log holds.
            f"/{SERVICE}/Attach": grpc.unary_stream_rpc_method_handler(
                self._attach, request_deserializer=pb.AttachRequest.FromString, response_serializer=None
            ),
        }
        self._health = health_handlers()
        self._node_health = Health(self._state_dir)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Optional[grpc.RpcMethodHandler]:
        """The handler of one call; one that refuses it where the token is missing or another."""
        method = handler_call_details.method
        if method in self._health:
            return self._health[method]
        if method not in self._methods:
            return None
        values = [value for key, value in handler_call_details.invocation_metadata or () if key == "authorization"]
        given = values[0] if len(values) == 1 else ""
        if not hmac.compare_digest(str(given).encode("utf-8", "replace"), b"Bearer " + self._token):
            return _refusing(grpc.StatusCode.UNAUTHENTICATED, NO_TOKEN)
        metadata = handler_call_details.invocation_metadata or ()
        callers = [value for key, value in metadata if key == "echelon-owner"]
        if callers:
            refusal = self._owner.refusal(str(callers[0]), any(key == "echelon-release" for key, _ in metadata))
            if refusal:
                return _refusing(grpc.StatusCode.PERMISSION_DENIED, refusal)
        return self._methods[method]

    async def _describe(self, _request: pb.DescribeRequest, context: grpc.aio.ServicerContext) -> pb.DescribeResponse:
        view = await self._blocking(context, self._view_nodes)
        return pb.DescribeResponse(
            version=__version__,
            generation=self._store.generation,
            ray_version=view.ray_version,
            python_version=".".join(map(str, sys.version_info[:3])),
            node_id=view.node_id,
            shared_root=self._store.shared_root,
            nodes=view.nodes,
            engines=ENGINES,
            spec_versions=SPEC_VERSIONS,
            free_disk_bytes=shutil.disk_usage(self._store.shared_root).free,
            started_at_unix_ms=self._started_at_unix_ms,
        )

    def _view_nodes(self) -> ClusterView:
        view = self._view_cluster()
        note_states(self._state_dir, view.nodes)
        self._node_health.report(view.nodes, view.pages, view.node_id)
        return view

    async def _launch(self, request: pb.LaunchRequest, context: grpc.aio.ServicerContext) -> pb.LaunchResponse:
        return await self._blocking(context, lambda: self._store.launch(request))

    async def _stop(self, request: pb.StopRequest, context: grpc.aio.ServicerContext) -> pb.StopResponse:
        return await self._blocking(context, lambda: self._store.stop(request))

    async def _forget(self, request: pb.ForgetRequest, context: grpc.aio.ServicerContext) -> pb.ForgetResponse:
        return await self._blocking(context, lambda: self._store.forget(request))

    async def _list(self, request: pb.ListRequest, context: grpc.aio.ServicerContext) -> pb.ListResponse:
        if request.experiment:
            await self._blocking(context, lambda: check_id(request.experiment, 1))
        return pb.ListResponse(attempts=await self._blocking(context, lambda: self._store.list(request.experiment)))

    async def _autoscale(self, request: pb.AutoscaleRequest, context: grpc.aio.ServicerContext) -> pb.AutoscaleResponse:
        try:
            await self._blocking(context, lambda: self._autoscaler.request(request.bundles))
        except grpc.aio.AbortError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever this release of Ray raises
            await context.abort(grpc.StatusCode.INTERNAL, f"Ray's autoscaler: {type(error).__name__}: {error}")
        return pb.AutoscaleResponse()

    async def _preflight(self, request: pb.PreflightRequest, context: grpc.aio.ServicerContext) -> pb.PreflightResponse:
        def look() -> pb.PreflightResponse:
            try:
                return self._preflight_program(request)
            except OSError as error:
                raise Exhausted(str(error)) from error

        return await self._blocking(context, look, executor=self._preflights)

    async def _attach(self, request: pb.AttachRequest, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        await self._blocking(context, lambda: check_id(request.experiment, request.attempt))
        directory = self._store.find(request.experiment, request.attempt)
        if directory is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the attempt is not known here")
        reader = await self._blocking(context, lambda: EventLogReader(directory, request.after))
        try:
            idle = 0
            while True:
                progress = await self._blocking(context, lambda: read_progress(directory), inline=True)
                if progress.last_sequence > reader.position:
                    idle = 0
                    # Catching up reads whole blocks from disk: not on the loop that all streams share.
                    inline = progress.last_sequence - reader.position < 64
                    read = lambda: reader.read(progress.last_sequence)  # noqa: E731
                    for payload in await self._blocking(context, read, inline=inline):
                        yield payload
                elif progress.ended:
                    return
                else:
                    idle += 1
                    await asyncio.sleep(POLL_SECONDS if idle < IDLE_AFTER_POLLS else IDLE_POLL_SECONDS)
        finally:
            # Not here: a read of a cancelled call may still be under way in its thread.
            with contextlib.suppress(RuntimeError):
                self._executor.submit(reader.close)

    async def _blocking(
        self, context: grpc.aio.ServicerContext, function, inline: bool = False, executor: Optional[Executor] = None
    ):
        """Runs something that blocks, in a thread unless ``inline``; each known error gets its status here."""
        try:
            if inline:
                return function()
            return await asyncio.get_running_loop().run_in_executor(executor or self._executor, function)
        except InvalidLaunch as error:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except OtherVersion as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error), VERSION_METADATA)
        except UnusableSecret as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        except Exhausted as error:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error), EXHAUSTED_METADATA)
        except NotEnded as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, str(error))
        except OutOfRange as error:
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, str(error))
        except DataLoss as error:
            await context.abort(grpc.StatusCode.DATA_LOSS, str(error))
        except OSError as error:
            await context.abort(grpc.StatusCode.INTERNAL, f"{type(error).__name__}: {error.strerror}")


def _unary(handler: Callable[..., Awaitable], request_type, response_type) -> grpc.RpcMethodHandler:
    return grpc.unary_unary_rpc_method_handler(
        handler, request_deserializer=request_type.FromString, response_serializer=response_type.SerializeToString
    )


def _refusing(status: grpc.StatusCode, reason: str) -> grpc.RpcMethodHandler:
    """Takes a stream of requests, none of which is read: what a refused caller sends is never received."""

    async def refuse(_requests, context: grpc.aio.ServicerContext) -> None:
        await context.abort(status, reason)

    return grpc.stream_unary_rpc_method_handler(refuse)
