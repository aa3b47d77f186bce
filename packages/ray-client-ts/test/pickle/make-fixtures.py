"""Writes pickles of CPython, numpy and Ray beside this file: python make-fixtures.py (Ray and numpy installed)."""

import json
import pathlib
import pickle
import traceback

import numpy as np
import ray.cloudpickle as cloudpickle
from ray import exceptions as ray_exceptions
from ray._private.utils import format_error_message


class HomeMade(Exception):
    def __str__(self):
        return f"home made {self.args[0]}"


def raised(error):
    text = f"\x1b[36mray::f()\x1b[39m (pid=7, ip=127.0.0.1)\n  File \"f.py\", line 1, in f\n{type(error).__name__}: {error}\n"
    return ray_exceptions.RayTaskError("f", text, error, proctitle="ray::f", pid=7, ip="127.0.0.1")


def chained():
    """As a worker makes it of an exception that was raised from another: Ray itself drops the first frame."""
    def inner():
        raise KeyError("lost key")

    try:
        try:
            inner()
        except KeyError as cause:
            raise RuntimeError("outer") from cause
    except RuntimeError as error:
        text = format_error_message(traceback.format_exc(), task_exception=True)
        return ray_exceptions.RayTaskError("f", text, error, proctitle="ray::f", pid=7, ip="127.0.0.1")


NUMPY = {
    "float64": np.arange(3, dtype="f8"),
    "float32": np.array([1.5], dtype="f4"),
    "int64": np.array([1, -2, 2**60]),
    "uint8": np.array([0, 255], dtype="u1"),
    "bool": np.array([True, False]),
    "matrix": np.zeros((2, 2)),
    "bigEndian": np.array([1], dtype=">i4"),
    "text": np.array(["a"]),
    "scalarFloat64": np.float64(1.5),
    "scalarInt64": np.int64(7),
    "scalarUint64": np.uint64(2**63),
    "scalarBool": np.bool_(True),
}
EXCEPTIONS = {
    "valueError": ValueError("bad"),
    "keyError": KeyError("k", 2),
    "taskError": raised(ValueError("bad thing")),
    "taskErrorOfTwoLines": raised(ValueError("one\ntwo")),
    "taskErrorHomeMade": raised(HomeMade("x")),
    "taskErrorNested": raised(raised(ZeroDivisionError("deep"))),
    "taskErrorChained": chained(),
    "taskErrorAsCause": raised(ValueError("dual")).as_instanceof_cause(),
    "actorDied": ray_exceptions.ActorDiedError(),
    "actorConstructor": ray_exceptions.ActorDiedError(raised(ValueError("in __init__"))),
    "cancelled": ray_exceptions.TaskCancelledError(),
    "getTimeout": ray_exceptions.GetTimeoutError("too late"),
    "crashed": ray_exceptions.WorkerCrashedError(),
    "runtimeEnv": ray_exceptions.RuntimeEnvSetupError("no such package"),
}

here = pathlib.Path(__file__).parent
numpy_pickles = {name: cloudpickle.dumps(value).hex() for name, value in NUMPY.items()}
numpy_pickles["float32Protocol4"] = pickle.dumps(np.arange(2, dtype="f4"), 4).hex()
exceptions = {name: cloudpickle.dumps(value).hex() for name, value in EXCEPTIONS.items()}
for name, pickles in (("numpy-pickles", numpy_pickles), ("exception-pickles", exceptions)):
    (here / f"{name}.json").write_text(json.dumps(pickles, indent=2) + "\n")
