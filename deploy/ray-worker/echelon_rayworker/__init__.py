"""The ray-worker: starts attempts of experiments on a Ray cluster and serves their event logs over gRPC."""

__version__ = "0.1.0"
