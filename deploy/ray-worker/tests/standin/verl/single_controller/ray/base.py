"""Placement groups of the GPU workers: one a node, made by the same calls as verl's, and found by its name in this module."""

import ray
from ray.util.placement_group import placement_group


class RayResourcePool:
    def __init__(self, process_on_nodes, max_colocate_count=1):
        self._store, self._cpus, self.pgs = process_on_nodes, max_colocate_count, None

    def get_placement_groups(self, strategy="STRICT_PACK"):
        if self.pgs is None:
            scheme = [[{"CPU": self._cpus, "GPU": 1} for _ in range(count)] for count in self._store]
            self.pgs = [
                placement_group(bundles=bundles, strategy=strategy, name=f"verl_group:{number}", lifetime=None)
                for number, bundles in enumerate(scheme)
            ]
            ray.get([pg.ready() for pg in self.pgs])
        return self.pgs
