"""Tells a failure of the cluster from one of the program, by what the driver printed and by the states of its nodes.

The order: the types of exceptions that only the cluster raises; types that only the program raises; causes of death as Ray
states them; the states of the nodes; texts of Ray, torch, NCCL, gloo and NVIDIA's driver. Each row names its source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Mapping, Optional

RAY = "https://github.com/ray-project/ray/blob/ray-2.60.0"
NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs"

_NODE = "another node of the cluster, or a process on it, was lost"
_HEAD = "the head of Ray did not answer"
_PREEMPTED = "a node of the cluster was preempted"
_PROCESS = "a process of Ray on the cluster was lost"
_LINK = "the connection between GPUs failed"
_GPU = "a GPU failed"
_ECC = "a GPU reported an uncorrectable memory error"


@dataclass(frozen=True)
class Row:
    """A sign of a failure of the cluster: the ``part`` that failed, in words, and where the sign comes from."""

    sign: str
    part: str
    source: str


# Types of exceptions. Ray also names them inside another type, as in RayTaskError(NodeDiedError).
CLUSTER_TYPES = (
    Row("NodeDiedError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("LocalRayletDiedError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("OwnerDiedError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("ActorUnavailableError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    # The node of a placement or an affinity is gone.
    Row("ActorUnschedulableError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("TaskUnschedulableError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("ObjectLostError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("ObjectReconstructionFailedError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    Row("ObjectFetchTimedOutError", _NODE, f"{RAY}/python/ray/exceptions.py"),
    # A task's process ended without an exception of its own.
    Row("WorkerCrashedError", _PROCESS, f"{RAY}/python/ray/exceptions.py"),
    Row("RpcError", _HEAD, f"{RAY}/python/ray/exceptions.py"),
    Row("DistNetworkError", _LINK, "https://docs.pytorch.org/docs/stable/distributed.html"),
)

# https://docs.python.org/3/library/exceptions.html: no failure of a cluster raises them. As the last one printed, they decide.
PROGRAM_TYPES = (
    "AssertionError", "AttributeError", "ImportError", "IndentationError", "IndexError", "KeyError", "ModuleNotFoundError",
    "NameError", "NotImplementedError", "RecursionError", "SyntaxError", "TypeError", "UnboundLocalError", "ZeroDivisionError",
    # Packages that do not install, by ray/exceptions.py; a retry would fail again.
    "RuntimeEnvSetupError",
)  # fmt: skip

# Causes of death as Ray writes them into its exceptions.
DEATH_CAUSES = (
    Row("node was preempted", _PREEMPTED, f"{RAY}/src/ray/core_worker/actor_management/actor_manager.cc"),
    Row("AUTOSCALER_DRAIN_PREEMPTED", _PREEMPTED, f"{RAY}/src/ray/protobuf/common.proto (NodeDeathInfo.Reason)"),
    Row("UNEXPECTED_TERMINATION", _NODE, f"{RAY}/src/ray/protobuf/common.proto (NodeDeathInfo.Reason)"),
    Row("its node has died", _NODE, f"{RAY}/src/ray/gcs/actor/gcs_actor_manager.cc"),
    Row("node it was running on is dead or unavailable", _NODE, f"{RAY}/src/ray/core_worker/task_submission/normal_task_submitter.cc"),
    # The process was killed or crashed; USER_ERROR and INTENDED_USER_EXIT are the program's.
    Row("Worker exit type: SYSTEM_ERROR", _PROCESS, f"{RAY}/src/ray/protobuf/common.proto (WorkerExitType)"),
)

TEXTS = (
    Row("is not in the cluster any more", _NODE, "echelon_rayworker/gang.py"),
    Row("Failed to connect to GCS", _HEAD, f"{RAY}/src/ray/gcs_rpc_client/rpc_client.h"),
    Row("Timed out while waiting for GCS", _HEAD, f"{RAY}/src/ray/gcs_rpc_client/rpc_client.h"),
    Row("Watchdog caught collective operation timeout", _LINK,
        "https://github.com/pytorch/pytorch/blob/v2.8.0/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"),
    Row("NCCL watchdog thread terminated", _LINK,
        "https://github.com/pytorch/pytorch/blob/v2.8.0/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp"),
    Row("ncclRemoteError", _LINK, f"{NCCL}/api/types.html#ncclresult-t"),
    Row("ncclSystemError", _LINK, f"{NCCL}/api/types.html#ncclresult-t"),
    Row("ncclUnhandledCudaError", _LINK, f"{NCCL}/api/types.html#ncclresult-t"),
    Row("Connection closed by peer", _LINK, "https://github.com/pytorch/gloo/blob/main/gloo/transport/tcp/pair.cc"),
    Row("GPU has fallen off the bus", _GPU, "https://docs.nvidia.com/deploy/xid-errors/ (Xid 79)"),
    Row("GPU is lost", _GPU, "https://docs.nvidia.com/deploy/nvml-api/ (NVML_ERROR_GPU_IS_LOST)"),
    Row("unspecified launch failure", _GPU,
        "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html (cudaErrorLaunchFailure)"),
    Row("uncorrectable ECC error", _ECC,
        "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html (cudaErrorECCUncorrectable)"),
)  # fmt: skip

# A line that a traceback ends with, perhaps behind the prefix that Ray gives the lines of its processes.
_EXCEPTION_LINE = re.compile(r"^(?:\([^)]*\) )?(?:[A-Za-z_]\w*\.)*(?P<type>[A-Za-z_]\w*(?:Error|Exception))(?:\((?P<inner>\w+)\))?(?::|$)")


def failed_part(lines: list[str], lost_nodes: Callable[[], Mapping[str, str]]) -> Optional[str]:
    """The part of the cluster that failed, in words; None if nothing says that the cluster failed. ``lines``: the last ones of
    the driver. ``lost_nodes``: gives the allocated nodes that are no longer alive, each with Ray's reason."""
    text = "\n".join(lines)
    for row in CLUSTER_TYPES:
        if re.search(rf"\b{row.sign}\b", text):
            return row.part
    if _last_type(lines) in PROGRAM_TYPES:
        return None
    for row in DEATH_CAUSES:
        if row.sign in text:
            return row.part
    for node, reason in lost_nodes().items():
        return f"node {node[:8]} is no longer alive" + (f" ({reason})" if reason else "")
    return next((row.part for row in TEXTS if row.sign in text), None)


def _last_type(lines: list[str]) -> str:
    """The type of the last exception that was printed; of a RayTaskError, the type inside it. Empty: none was."""
    for line in reversed(lines):
        if found := _EXCEPTION_LINE.match(line.rstrip()):
            return found["inner"] or found["type"]
    return ""
