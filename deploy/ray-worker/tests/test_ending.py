import signal

import pytest

from echelon_rayworker import failures
from echelon_rayworker.ending import Circumstances, describe_end
from echelon_rayworker.gen import rayworker_pb2 as pb


def end(status: int, stop: str | None = None, told: bool = False, oom: int = 0, lines: tuple[str, ...] = ()) -> pb.Ended:
    return describe_end(status, Circumstances(stop, told, oom, list(lines)))


def code(number: int) -> int:
    return number << 8


@pytest.mark.parametrize(
    ("ended", "cause"),
    [
        (end(code(0)), pb.Ended.SUCCEEDED),
        (end(code(1)), pb.Ended.FAILED),
        (end(signal.SIGKILL), pb.Ended.KILLED),
        (end(signal.SIGSEGV), pb.Ended.KILLED),
        (end(signal.SIGKILL, oom=1), pb.Ended.OUT_OF_MEMORY),
        (end(signal.SIGTERM, oom=1), pb.Ended.KILLED),
        (end(code(137), oom=1), pb.Ended.OUT_OF_MEMORY),
        (end(code(137)), pb.Ended.FAILED),
        (end(code(1), oom=1), pb.Ended.FAILED),
        (end(code(1), oom=1, lines=("ray.exceptions.ActorDiedError: The actor died",)), pb.Ended.OUT_OF_MEMORY),
        (end(code(1), lines=("ray.exceptions.ActorDiedError: The actor died",)), pb.Ended.FAILED),
        (end(code(1), lines=("Task was killed due to the node running low on memory.",)), pb.Ended.OUT_OF_MEMORY),
        (end(code(1), lines=("torch.cuda.OutOfMemoryError: CUDA out of memory",)), pb.Ended.OUT_OF_MEMORY),
        (end(code(1), lines=("The actor died because its node has died. Node Id: 6",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.NodeDiedError: Task failed", "", "more")), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.ActorUnschedulableError: The actor is not schedulable: The node",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.TaskUnschedulableError: The task is not schedulable: The node",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.ObjectLostError: Failed to retrieve object 00",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.ObjectReconstructionFailedError: Failed to retrieve",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("ray.exceptions.LocalRayletDiedError: The task's local raylet died.",)), pb.Ended.CLUSTER_FAILED),
        (end(signal.SIGABRT, lines=("Watchdog caught collective operation timeout: WorkNCCL",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), lines=("CUDA error: uncorrectable ECC error encountered",)), pb.Ended.CLUSTER_FAILED),
        (end(code(1), oom=1, lines=("its node has died; ActorDiedError",)), pb.Ended.OUT_OF_MEMORY),
        (end(code(1), lines=("ValueError: Resource pool global_pool: 4 cannot be satisfied in this ray cluster",)), pb.Ended.GPUS_SHORT),
        (end(code(1), lines=("OSError: [Errno 28] No space left on device: '/shared/x.pt'",)), pb.Ended.DISK_FULL),
        (end(code(1), lines=("RuntimeError: PytorchStreamWriter failed writing file data/7: file write failed",)), pb.Ended.DISK_FULL),
        (end(code(1), lines=("OSError: [Errno 122] Disk quota exceeded", "ActorUnavailableError")), pb.Ended.DISK_FULL),
        (end(code(1), lines=("OSError: [Errno 2] No such file or directory",)), pb.Ended.FAILED),
        (end(code(1), lines=("NCCL WARN Cuda failure 2 'out of memory'", "ncclUnhandledCudaError: Call to CUDA function failed.")), pb.Ended.OUT_OF_MEMORY),
        (end(code(0), lines=("NodeDiedError",)), pb.Ended.SUCCEEDED),
        (end(code(0), oom=5), pb.Ended.SUCCEEDED),
        (end(code(0), stop=""), pb.Ended.STOPPED),
        (end(signal.SIGKILL, stop="x", oom=1), pb.Ended.STOPPED),
        (end(signal.SIGTERM, told=True), pb.Ended.KILLED),
    ],
)
def test_causes(ended: pb.Ended, cause: int) -> None:
    assert ended.cause == cause


def test_the_message_says_how_and_why() -> None:
    assert end(signal.SIGKILL).message == "signal 9 (SIGKILL)"
    assert end(code(2), lines=("x", "ValueError: no such key", "")).message == "exit code 2: ValueError: no such key"
    assert end(code(2), lines=("just text",)).message == "exit code 2"
    assert end(signal.SIGTERM, stop="enough").message == "stopped: enough (signal 15 (SIGTERM))"
    assert (end(signal.SIGTERM).exit_code, end(signal.SIGTERM).signal) == (143, 15)


# What a driver prints, as Ray 2.60, torch 2.8, gloo and NVIDIA's driver print it.
PRINTED = {
    "a crashed GCS": "[2026-11-01 10:00:00,000 E 1 1] rpc_client.h:201: Failed to connect to GCS within 60 seconds. GCS may have been killed.",
    "a silent GCS": "ray._raylet.RpcError: Timed out while waiting for GCS to become available.",
    "a preempted node": "The actor is dead because its node was preempted. Node Id: 6f",
    "a node of an affinity that is gone": "ray.exceptions.ActorUnschedulableError: The actor is not schedulable: The node specified via NodeAffinitySchedulingStrategy doesn't exist any more",
    "a crashed process": "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task.",
    "a process that the system ended": "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits",
    "a CUDA error inside NCCL": "ncclUnhandledCudaError: Call to CUDA function failed.",
    "a lost GPU": "NVRM: Xid (PCI:0000:41:00): 79, pid=12345, GPU has fallen off the bus.",
    "a lost peer of gloo": "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:58054",
    "a failed kernel": "RuntimeError: CUDA error: unspecified launch failure",
    "a type inside another": "ray.exceptions.RayTaskError(NodeDiedError): ray::train() (pid=7, ip=10.0.0.7)",
}


@pytest.mark.parametrize("line", PRINTED.values(), ids=PRINTED.keys())
def test_a_line_of_a_failed_cluster_is_a_failure_of_the_cluster(line: str) -> None:
    assert end(code(1), lines=("Traceback (most recent call last):", line)).cause == pb.Ended.CLUSTER_FAILED


ROWS = [*failures.CLUSTER_TYPES, *failures.DEATH_CAUSES, *failures.TEXTS]


@pytest.mark.parametrize("row", ROWS, ids=[row.sign for row in ROWS])
def test_each_row_alone_decides_and_names_its_part_and_its_source(row: failures.Row) -> None:
    ended = end(code(1), lines=(f"RuntimeError: {row.sign}: 7",))
    assert (ended.cause, ended.message) == (pb.Ended.CLUSTER_FAILED, f"{row.part} (exit code 1)")
    assert row.source.startswith("https://") or row.source == "echelon_rayworker/gang.py"


@pytest.mark.parametrize("name", failures.PROGRAM_TYPES)
def test_a_programming_error_as_the_last_exception_is_no_failure_of_the_cluster(name: str) -> None:
    lines = ("[gloo] Connection closed by peer [10.0.0.7]:1", "Traceback (most recent call last):", f"{name}: x")
    assert end(code(1), lines=lines).cause == pb.Ended.FAILED
    inside = ("ncclRemoteError", f"ray.exceptions.RayTaskError({name}): ray::train() (pid=7)", "  detail")
    assert end(code(1), lines=inside).cause == pb.Ended.FAILED


def test_an_exception_of_the_cluster_decides_although_a_programming_error_follows() -> None:
    lines = ("ray.exceptions.NodeDiedError: the node died", "During handling of the above exception:", "KeyError: 'actor'")
    assert end(code(1), lines=lines).cause == pb.Ended.CLUSTER_FAILED


def test_an_unknown_end_on_a_node_that_is_no_longer_alive_is_a_failure_of_the_cluster() -> None:
    lost = Circumstances(None, False, 0, ["RuntimeError: it broke"], lambda: {"0123456789": "health check failed"})
    ended = describe_end(code(1), lost)
    assert ended.cause == pb.Ended.CLUSTER_FAILED
    assert ended.message == "node 01234567 is no longer alive (health check failed) (exit code 1)"
    assert describe_end(signal.SIGABRT, lost).cause == pb.Ended.CLUSTER_FAILED
    program = Circumstances(None, False, 0, ["TypeError: it broke"], lost.lost_nodes)
    assert describe_end(code(1), program).cause == pb.Ended.FAILED
    assert describe_end(code(0), lost).cause == pb.Ended.SUCCEEDED
