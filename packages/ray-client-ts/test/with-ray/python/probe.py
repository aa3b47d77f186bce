"""What the integration tests run on the cluster. Importable there through PYTHONPATH."""

import asyncio
import os
import sys
import time


class HomeMade(Exception):
    """An exception of the user's own, with arguments that pickle."""


def add(a, b=10):
    return a + b


def describe(value):
    """What Python made of a value that TypeScript sent."""
    return f"{type(value).__name__}:{value!r}"


def fail(kind):
    if kind == "home-made":
        raise HomeMade("made at home", 7)
    if kind == "nested":
        import ray

        return ray.get(ray.remote(fail).remote("value"))
    if kind == "exit":
        os._exit(3)
    if kind == "unpicklable":
        return lambda: None
    raise ValueError(f"bad {kind}\nsecond line")


def sleep(seconds):
    time.sleep(seconds)
    return "slept"


def environment(name):
    return os.environ.get(name)


def say(text):
    print(text, flush=True)
    print(text.upper(), file=sys.stderr, flush=True)


def size(blob):
    return len(blob)


def zeros(count):
    return b"\0" * count


def node_id():
    import ray

    return ray.get_runtime_context().get_node_id()


def nap_on_node(seconds):
    time.sleep(seconds)
    return node_id()


def flaky(path, failures, kind="ValueError"):
    """Raises in its first calls, which it counts in a file; then returns the number of the call."""
    with open(path, "a+") as file:
        file.write(".")
        calls = file.tell()
    if calls <= failures:
        raise {"ValueError": ValueError, "KeyError": KeyError}[kind](f"call {calls}")
    return calls


def numbers():
    import numpy as np

    return {"scalar": np.float32(0.5), "array": np.arange(4, dtype="f8"), "flags": np.array([True, False])}


class Counter:
    def __init__(self, start=0, fail=False):
        if fail:
            raise RuntimeError("refused to be born")
        self.value = start

    def add(self, by=1):
        self.value += by
        return self.value

    def echo(self, value):
        return value

    def pid(self):
        return os.getpid()

    def fail(self, text):
        raise KeyError(text)

    def die(self):
        os._exit(1)

    def size(self, blob):
        self.value += 1
        return len(blob)

    def blob(self, count):
        return bytes(range(256)) * (count // 256)


class Waiter:
    """Asynchronous methods: many run at once."""

    def __init__(self):
        self.event = asyncio.Event()

    async def wait(self):
        await self.event.wait()
        return "released"

    async def release(self):
        self.event.set()
