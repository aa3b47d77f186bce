"""The batch format: batches and optimizer steps as bytes and as files. It needs Python's standard library and nothing else."""

from .batch import build_batch
from .batch_file import read_batch_file, write_batch_file
from .step_batch import build_step_batch

__all__ = ["build_batch", "build_step_batch", "read_batch_file", "write_batch_file"]
