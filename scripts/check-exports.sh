#!/bin/sh
# `npm run check:exports`: exports a verification with the libraries of W&B, MLflow, TensorBoard and Trackio, without a network, and reads
# it back with the same libraries. They are installed into .cache/exports-check.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/exports-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$root/deploy/python/tests/trackers/requirements.txt"
PATH="$root/node_modules/.bin:$PATH" exec "$venv/bin/python" -m pytest -q "$root/deploy/python/tests/trackers/check_export.py" "$@"
