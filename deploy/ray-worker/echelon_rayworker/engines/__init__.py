"""Engines that a ray-worker can launch: `local` trains a small policy on the CPU, `replay` streams recorded batches."""
