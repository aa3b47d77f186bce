"""The detached Ray actor that serves the ray-worker: one per cluster, pinned to one node and one port.

It can be killed and replaced at any time: supervisors and drivers are no children of it, and its next life finds
them again in the state directory and serves them on the same port.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import sys
import threading
import time
from concurrent.futures import Future
from typing import Any, Mapping, Optional

import ray

from echelon_rayworker.autoscale import ask_ray
from echelon_rayworker.certificate import ensure_certificate, is_loopback
from echelon_rayworker.gen import rayworker_pb2 as pb
from echelon_rayworker.nodehealth import pages_of
from echelon_rayworker.server import RayWorkerServer, ServerOptions
from echelon_rayworker.service import ClusterView
from echelon_rayworker.uses import JobUses, NodeUses

ACTOR_NAME = "echelon-ray-worker"
NAMESPACE = "echelon"
RETRY_SECONDS = 2.0
READY_SECONDS = 60.0
_ANY_ADDRESS = ("0.0.0.0", "[::]")


class RayWorker:
    """Serves the ray-worker from within a Ray cluster. ``options``: the fields of ServerOptions, paths as this node
    sees them (``~`` is its user's home), and ``encrypt``: serve over TLS, on Ray's own certificate where Ray has one,
    else on one made here."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        context = ray.get_runtime_context()
        known = {field.name for field in dataclasses.fields(ServerOptions)}
        wanted = {name: value for name, value in options.items() if name in known}
        wanted.update(ray_address=context.gcs_address, inside_ray=True)
        for name in ("state_dir", "shared_root"):
            wanted[name] = os.path.abspath(os.path.expanduser(wanted[name]))
        if wanted.get("host") in _ANY_ADDRESS and not wanted.get("advertised_host"):
            wanted["advertised_host"] = ray.util.get_node_ip_address()
        self._options = ServerOptions(**wanted)
        self._encrypt = bool(options.get("encrypt"))
        self._reached_as = str(options.get("reached_as") or "")
        self._server: RayWorkerServer | None = None
        self._node_id = context.get_node_id()
        self._uses = JobUses()
        self._endpoint: Future[dict[str, str]] = Future()
        self._trouble = "it has not started yet"
        self._ca = ""
        threading.Thread(target=lambda: asyncio.run(self._serve()), name="echelon-serve", daemon=True).start()

    def endpoint(self) -> str:
        """JSON: address, version and generation. RuntimeError with the reason if it cannot serve."""
        try:
            return json.dumps(self._endpoint.result(READY_SECONDS))
        except TimeoutError as error:
            raise RuntimeError(f"the ray-worker does not serve: {self._trouble}") from error

    def connection(self) -> bytes:
        """JSON: the endpoint, and everything that a client needs: ``token``, ``ca`` (PEM that its certificate is
        checked against; null: no TLS), ``nodeId``, ``stateDir``, ``sharedRoot``. To be asked for over a channel that
        is authenticated itself. RuntimeError as of ``endpoint``."""
        endpoint = json.loads(self.endpoint())
        assert self._server is not None
        options = self._server.options
        ca = ""
        if options.tls_cert:
            with open(self._ca or options.tls_cert, encoding="ascii") as file:
                ca = file.read()
        return json.dumps({
            **endpoint, "token": self._server.token, "ca": ca or None, "nodeId": self._node_id,
            "stateDir": options.state_dir, "sharedRoot": options.shared_root,
        }).encode()

    def _secured(self) -> ServerOptions:
        """The options, with a certificate if one is wanted and can be made; a loopback address needs none."""
        options = self._options
        if not self._encrypt or options.tls_cert:
            return options
        environment = os.environ
        if environment.get("RAY_USE_TLS", "").lower() in ("1", "true"):
            self._ca = environment["RAY_TLS_CA_CERT"]
            return dataclasses.replace(
                options, tls_cert=environment["RAY_TLS_SERVER_CERT"], tls_key=environment["RAY_TLS_SERVER_KEY"]
            )
        if is_loopback(options.host):
            return options
        made = ensure_certificate(
            options.state_dir, (options.advertised_host or options.host, options.host, self._reached_as)
        )
        return dataclasses.replace(options, tls_cert=made[0], tls_key=made[1]) if made else options

    async def _serve(self) -> None:
        # Ray does not restart an actor whose constructor failed, and a port or a lock may be free a little later.
        while True:
            server: RayWorkerServer | None = None
            try:
                options = await asyncio.to_thread(self._secured)
                server = RayWorkerServer(options, lambda: view_cluster(self._node_id, self._uses), ask_ray)
                await server.start()
                break
            except Exception as error:  # noqa: BLE001
                self._trouble = f"{type(error).__name__}: {error}"
                print(f"ray-worker: {self._trouble}", file=sys.stderr, flush=True)
                if server:
                    await server.stop()
                await asyncio.sleep(RETRY_SECONDS)
        self._server = server
        self._endpoint.set_result(server.endpoint)
        await asyncio.Event().wait()


def view_cluster(node_id: str, job_uses: JobUses) -> ClusterView:
    """The cluster's nodes and resources as Ray reports them now."""
    available = _available_by_node()
    drained = _draining_nodes()
    known = _known_uses(job_uses)
    nodes: list[pb.Node] = []
    pages: dict[str, tuple[str, ...]] = {}
    for node in ray.nodes():
        total: Mapping[str, float] = node.get("Resources") or {}
        # A node that Ray lists as dead, or has not heard of yet, has nothing to give.
        free = available.get(node["NodeID"], {}) if node["Alive"] else {}
        used = {name: total.get(name, 0) - free.get(name, 0) for name in ("GPU", "CPU")} if node["Alive"] else {}
        labels = _labels(node)
        pages[node["NodeID"]] = pages_of(node, labels)
        nodes.append(pb.Node(
            id=node["NodeID"], address=node["NodeManagerAddress"], alive=node["Alive"],
            cpus_total=total.get("CPU", 0), gpus_total=total.get("GPU", 0),
            cpus_available=free.get("CPU", 0), gpus_available=free.get("GPU", 0),
            state_reason="" if node["Alive"] else _death_reason(node),
            draining=node["Alive"] and node["NodeID"] in drained,
            drain_remaining_ms=_remaining_ms(drained.get(node["NodeID"], 0)),
            labels=labels, uses_known=known is not None,
            uses=known.on(node["NodeID"], used["GPU"], used["CPU"]) if known and used else [],
        ))
    return ClusterView(ray_version=ray.__version__, node_id=node_id, nodes=nodes, pages=pages)


_ACCELERATOR = "accelerator_type:"


def _labels(node: Mapping[str, Any]) -> dict[str, str]:
    """The node's labels in Ray, and its host name. Older releases of Ray say the type of its GPUs by a resource alone."""
    types = [name[len(_ACCELERATOR) :] for name in node.get("Resources") or {} if name.startswith(_ACCELERATOR)]
    given = {"ray.io/accelerator-type": types[0]} if types else {}
    if node.get("NodeManagerHostname"):
        given["host"] = str(node["NodeManagerHostname"])
    return {**given, **{str(key): str(value) for key, value in (node.get("Labels") or {}).items()}}


def _known_uses(job_uses: JobUses) -> Optional[NodeUses]:
    """What Ray jobs use; None if this release of Ray does not tell."""
    try:
        return job_uses.look((ray.util.get_node_ip_address(), "127.0.0.1"))
    except (AttributeError, ImportError, KeyError, TypeError):
        return None


def _draining_nodes() -> Mapping[str, int]:
    """The deadlines of the nodes that Ray drains (ms since 1970; 0: none), by id."""
    from ray._private import state

    try:
        return state.state.get_draining_nodes()
    except AttributeError:  # an older release of Ray
        return {}


def _remaining_ms(deadline_ms: int) -> int:
    return max(1, deadline_ms - time.time_ns() // 1_000_000) if deadline_ms > 0 else 0


def _death_reason(node: Mapping[str, Any]) -> str:
    """Why Ray lists a node as dead. Older releases of Ray do not say."""
    reason, message = str(node.get("DeathReason") or ""), str(node.get("DeathReasonMessage") or "")
    return ": ".join(part for part in (reason if reason != "UNSPECIFIED" else "", message) if part)


def _available_by_node() -> Mapping[str, Mapping[str, float]]:
    from ray._private import state

    try:
        return state.available_resources_per_node()
    except AttributeError:  # before Ray 2.7
        return state.state._available_resources_per_node()
