#!/bin/sh
# `npm run check:capture`: trains with TRL's own GRPOTrainer on the CPU and verifies what the capture hooks recorded: optimizer steps
# (test_trl_steps.py), then advantages. Model and tokenizer are made by the scripts.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
python=$("$root/scripts/test/trainer-environments.sh" trl)
export PATH="$root/node_modules/.bin:$PATH"
PYTHONPATH="$root/deploy/capture" "$python" -W ignore -m pytest "$root/deploy/capture/tests/test_trl_steps.py"
exec "$python" -W ignore "$root/scripts/check-capture.py"
