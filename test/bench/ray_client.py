"""One arm of the bench: Python's own Ray Client. Reads `measure count` lines, answers each with seconds."""

import asyncio
import sys
import time

import ray


def connect(address, attempts=5):
    for attempt in range(attempts):
        try:
            return ray.init(address, namespace="bench-python")
        except ConnectionError:
            if attempt == attempts - 1:
                raise


connect(sys.argv[1])
from probe import Counter  # noqa: E402: importable where Ray is

actor = ray.remote(Counter).options(num_cpus=0).remote()
ray.get(actor.echo.remote(b"warm"))


def sequential(count):
    for _ in range(count):
        ray.get(actor.echo.remote(b"x"))


def pipelined(count):
    """Each value as soon as it is there, as an asynchronous program has it."""

    async def gather():
        async def one():
            return await actor.echo.remote(b"x")

        await asyncio.gather(*(one() for _ in range(count)))

    asyncio.run(gather())


def batch(count):
    """One get for all of them: nothing before the last is there, and the first failure fails them all."""
    ray.get([actor.echo.remote(b"x") for _ in range(count)])


def put(mebibytes):
    return ray.put(b"\1" * (mebibytes * 2**20))


def settle():
    """Waits until the server has handled the releases of this client: it works in order, and Ray frees objects later."""
    ray.get(ray.put(b""))
    time.sleep(0.2)


def seconds(act, count):
    begin = time.perf_counter()
    act(count)
    return time.perf_counter() - begin


print("ready", flush=True)
for line in sys.stdin:
    measure, count = line.split()
    if measure == "get":
        ref = put(int(count))
        taken = seconds(lambda _: ray.get(ref), 0)
        del ref
    else:
        act = {"sequential": sequential, "pipelined": pipelined, "batch": batch, "put": put}[measure]
        taken = seconds(act, int(count))
    settle()
    print(taken, flush=True)
