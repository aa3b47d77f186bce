"""The merge of a checkpoint's shards, on the node that has the CPUs for it.

The function travels by value, since the node need not have this package: it uses no name of this module.
"""

from __future__ import annotations


def merge(script: str, shards: str, target: str) -> None:
    """Runs the checkout's script in this very process, so that it ends with its Ray task."""
    import os
    import runpy
    import sys

    sys.path.insert(0, os.path.dirname(os.path.dirname(script)))
    sys.argv = [script, "merge", "--backend", "fsdp", "--local_dir", shards, "--target_dir", target]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        # Ray would take it for the end of its process.
        if end.code:
            raise RuntimeError(f"{script} ended with {end.code}") from None


def merge_on_cluster(script: str, shards: str, target: str, cpus: float) -> None:
    """Merges in a Ray task on the allocated node, else on any. Raises Ray's error of the task."""
    import os
    import signal
    import sys

    import ray
    from echelon_rayworker import allocation
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    stop = signal.getsignal(signal.SIGTERM)
    ray.init(address=os.environ["RAY_ADDRESS"], logging_level="warning")
    # Ray puts a handler of its own in place.
    signal.signal(signal.SIGTERM, stop)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    nodes = allocation.nodes_of(os.environ)
    where = {"scheduling_strategy": NodeAffinitySchedulingStrategy(nodes[0].id, soft=False)} if nodes else {}
    ray.get(ray.remote(num_cpus=cpus, max_retries=0, **where)(merge).remote(script, shards, target))
