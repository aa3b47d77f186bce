"""The code that runs on a GPU. Apart from the trainer, so that its process does not load what the trainer's does."""

import os

import ray


@ray.remote
class WorkerDict:
    """Stands for a GPU's process."""

    def update(self):
        return os.getpid()
