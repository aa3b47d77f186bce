#!/usr/bin/env bash
# Runs the tests of the Ray client with Ray and with its own Python client against releases of Ray: scripts/ray-versions.sh 2.46.0 2.60.0
# Each release gets a virtual environment of its own under .cache/ray, made once.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3.11}"
for version in "$@"; do
  venv=".cache/ray/$version"
  if [[ ! -x "$venv/bin/ray" ]]; then
    "$python" -m venv "$venv"
    "$venv/bin/pip" install --quiet "ray[client]==$version" numpy
  fi
  echo "== Ray $version"
  RAY_PYTHON="$venv/bin/python" unshare --net bash -c 'ip link set lo up; exec "$@"' isolated \
    node_modules/.bin/node --test --test-concurrency=1 --test-reporter=dot \
    'packages/ray-client-ts/test/with-ray/*.test.ts' 'packages/ray-client-ts/test/with-python/*.test.ts'
done
