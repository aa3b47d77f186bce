#!/bin/sh
# `npm run check:capture`: trains with TRL's own GRPOTrainer on the CPU and verifies what the capture hooks recorded: optimizer steps
# (test_steps.py), then advantages. The packages of scripts/golden/trl.txt are installed into .cache/capture-check; model and
# tokenizer are made by the scripts.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/capture-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$root/scripts/golden/trl.txt" pytest
export PATH="$root/node_modules/.bin:$PATH"
PYTHONPATH="$root/deploy/capture" "$venv/bin/python" -W ignore -m pytest -q "$root/deploy/capture/tests/test_steps.py"
exec "$venv/bin/python" -W ignore "$root/scripts/check-capture.py"
