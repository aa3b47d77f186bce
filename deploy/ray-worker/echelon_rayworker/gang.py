"""Whether nodes that would run one training together reach each other: TCP between every two of them, then a collective.

An actor that asks for no CPU is pinned to each node. It travels by value, since nothing of ours need be installed there."""

from __future__ import annotations

import time
import uuid
from itertools import combinations
from typing import Any, Callable, Mapping

from echelon_rayworker.engines.answers import Answer

SECONDS = 60.0
# A share of a GPU that is free: with less, torch sees no GPU.
_OF_A_GPU = 0.01
_CHECK = "nodes together"

# Ports by address, for each address that connects.
Places = Mapping[str, Mapping[str, int]]


def gang_answers(gpus: float, seconds: float = SECONDS) -> list[Answer]:
    """Asks all living nodes with so many GPUs. Any process that is connected to Ray may call it; it takes `seconds` at most."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ids = {
        node["NodeManagerAddress"]: node["NodeID"] for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("GPU", 0) >= gpus
    }  # fmt: skip
    if len(ids) < 2:
        return []
    share = _OF_A_GPU if gpus and _free_gpus(list(ids.values())) else 0
    member = ray.remote(num_cpus=0, num_gpus=share)(member_class())
    token = uuid.uuid4().hex
    members = {
        address: member.options(scheduling_strategy=NodeAffinitySchedulingStrategy(id, soft=False)).remote(token)
        for address, id in ids.items()
    }
    try:
        return _ask_all(members, time.monotonic() + seconds)
    finally:
        for actor in members.values():
            ray.kill(actor)


def _free_gpus(ids: list[str]) -> bool:
    """Whether Ray has as much as a GPU to give on each node."""
    from ray._private.state import available_resources_per_node

    available = available_resources_per_node()
    return all(available.get(id, {}).get("GPU", 0) >= 1 for id in ids)


def _ask_all(members: Mapping[str, Any], deadline: float) -> list[Answer]:
    def ask(call: Callable[[Any, str], Any]) -> tuple[dict[str, Any], list[Answer]]:
        return _ask({address: call(actor, address) for address, actor in members.items()}, deadline)

    ports, silent = ask(lambda actor, _: actor.listen.remote())
    if silent:
        return silent
    places = places_for(ports)
    errors, silent = ask(lambda actor, address: actor.connect.remote(places[address]))
    if silent or any(errors.values()):
        return silent + pair_answers(errors)
    names = ", ".join(members)
    torches, silent = ask(lambda actor, _: actor.torch_devices.remote())
    if silent or "" in torches.values():
        text = f"{names} reach each other; no collective was tried: torch cannot be imported on every node"
        return [*silent, Answer(_CHECK, True, text)]
    backend = "nccl" if set(torches.values()) == {"cuda"} else "gloo"
    (first, *_), count = members, len(members)
    port, silent = _ask({first: members[first].open_store.remote(first, count)}, deadline)
    if silent:
        return silent
    ranks = {address: rank for rank, address in enumerate(members)}
    sums, silent = ask(lambda actor, address: actor.all_reduce.remote(backend, first, port[first], ranks[address], count))
    return silent + collective_answers(backend, sums)


def _ask(calls: Mapping[str, Any], deadline: float) -> tuple[dict[str, Any], list[Answer]]:
    """What the nodes answered, and an answer for each that did not."""
    import ray

    ray.wait(list(calls.values()), num_returns=len(calls), timeout=max(0.0, deadline - time.monotonic()))
    said, silent = {}, []
    for address, call in calls.items():
        try:
            said[address] = ray.get(call, timeout=0)
        except Exception as error:  # noqa: BLE001 - one node's trouble is that node's answer
            why = "it did not answer in time" if isinstance(error, TimeoutError) else str(error).strip().splitlines()[-1]
            remedy = "look at the node: `ray status` and its logs say more"
            silent.append(Answer(_CHECK, False, f"node {address}: {why}", remedy))
    return said, silent


def places_for(ports: Mapping[str, int]) -> Places:
    """Where each node looks for the others."""
    return {own: {address: port for address, port in ports.items() if address != own} for own in ports}


def pair_answers(errors: Mapping[str, Mapping[str, str]]) -> list[Answer]:
    """One for each pair of nodes of which one does not reach the other. `errors`: of each node, by the address that it
    does not reach."""
    answers = []
    for one, other in combinations(errors, 2):
        ways = [(one, other, errors[one].get(other)), (other, one, errors[other].get(one))]
        said = "; ".join(f"node {a} does not reach node {b}: {why}" for a, b, why in ways if why)
        if said:
            remedy = f"allow TCP on all ports between {one} and {other}, in firewalls, security groups and network policies"
            answers.append(Answer(_CHECK, False, said, remedy))
    return answers


def collective_answers(backend: str, sums: Mapping[str, float | str]) -> list[Answer]:
    """`sums`: what each node got when all of them added 1, or why it got nothing."""
    wrong = {address: value for address, value in sums.items() if value != len(sums)}
    names = ", ".join(sums)
    if not wrong:
        return [Answer(_CHECK, True, f"{names} reach each other, and all_reduce ({backend}) adds up")]
    said = "; ".join(f"node {address}: {value}" for address, value in wrong.items())
    remedy = "set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to the interface that joins the nodes: `echelon clusters update --env`"
    return [Answer(_CHECK, False, f"{names} reach each other, but all_reduce ({backend}) fails: {said}", remedy)]


def member_class() -> type:
    """The actor's class. It uses no name of this module."""

    class Member:
        SECONDS = 10.0

        def __init__(self, token: str) -> None:
            self._token = token.encode()
            self._store = None

        def listen(self) -> int:
            """Answers its token on a free port of all interfaces, which is returned, as long as this process lives."""
            import socket
            import threading

            listener = socket.create_server(("", 0), backlog=256)

            def serve() -> None:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(self._token)

            threading.Thread(target=serve, daemon=True).start()
            return listener.getsockname()[1]

        def connect(self, places: dict[str, int]) -> dict[str, str]:
            """Of the places that are not reached, why."""
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(max_workers=max(1, len(places))) as pool:
                errors = dict(zip(places, pool.map(lambda place: self._why_not(*place), places.items())))
            return {address: why for address, why in errors.items() if why}

        def _why_not(self, address: str, port: int) -> str:
            import socket

            try:
                with socket.create_connection((address, port), timeout=self.SECONDS) as connection:
                    with connection.makefile("rb") as stream:
                        said = stream.read(len(self._token))
            except OSError as error:
                return f"port {port}: {error}"
            return "" if said == self._token else f"port {port}: something else answers there"

        def torch_devices(self) -> str:
            """`cuda` or `cpu`; empty if torch cannot be imported."""
            try:
                import torch
                import torch.distributed
            except ImportError:
                return ""
            if not torch.distributed.is_available():
                return ""
            return "cuda" if torch.cuda.is_available() else "cpu"

        def open_store(self, address: str, count: int) -> int:
            """The port at which the processes of the collective find each other; of the first of them."""
            self._store = self._store_at(address, 0, count, True)
            return self._store.port

        def all_reduce(self, backend: str, address: str, port: int, rank: int, count: int) -> float | str:
            """The sum of a 1 of each process, or why there is none."""
            from datetime import timedelta

            import torch
            from torch import distributed

            try:
                store = self._store or self._store_at(address, port, count, False)
                distributed.init_process_group(
                    backend, store=store, rank=rank, world_size=count, timeout=timedelta(seconds=2 * self.SECONDS)
                )
                value = torch.ones(1, device="cuda" if backend == "nccl" else "cpu")
                distributed.all_reduce(value)
                result = value.item()
                distributed.destroy_process_group()
                return result
            except Exception as error:  # noqa: BLE001 - torch raises many kinds
                return f"{type(error).__name__}: {error}".splitlines()[0]

        def _store_at(self, address: str, port: int, count: int, first: bool):
            from datetime import timedelta

            from torch.distributed import TCPStore

            seconds = timedelta(seconds=2 * self.SECONDS)
            return TCPStore(address, port, count, first, timeout=seconds, wait_for_workers=False)

    return Member
