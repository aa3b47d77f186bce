"""Modules of the ray-worker. Here they are links; a wheel contains the files."""
