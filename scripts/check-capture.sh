#!/bin/sh
# `npm run check:capture`: trains with TRL's own GRPOTrainer on the CPU and verifies what the capture hook captured. The
# packages of scripts/golden/trl.txt are installed into .cache/capture-check; model and tokenizer are made by the script.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/capture-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$root/scripts/golden/trl.txt"
PATH="$root/node_modules/.bin:$PATH" exec "$venv/bin/python" -W ignore "$root/scripts/check-capture.py"
