import signal

import pytest

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
