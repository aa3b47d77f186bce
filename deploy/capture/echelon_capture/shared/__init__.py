"""Modules of the ray-worker that this package contains as well: links here, files in a wheel."""
