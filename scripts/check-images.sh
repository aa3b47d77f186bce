#!/usr/bin/env bash
# Builds the images and runs docker-compose.yml and the chart's Ray pods on a Docker engine of its own, in network and
# mount namespaces of its own. Nothing is installed on this machine and nothing listens on its network. The base images
# come from a registry, which a check may not reach, so stand-ins of the same names are made from Debian and Python
# packages; the last lines say what they replace. Needs root on Debian 12, x86-64; elsewhere it says so and ends with 0.
# Everything that is fetched or built stays in .cache/images for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."

# shellcheck source=scripts/check-images/engine.sh
. scripts/check-images/engine.sh
# shellcheck source=scripts/check-images/stack.sh
. scripts/check-images/stack.sh
# shellcheck source=scripts/check-images/pods.sh
. scripts/check-images/pods.sh

open_engine
docker run --rm "$node_image" timeout 30 npm view --json commander@14.0.3 version >"$run/registry.log" 2>&1 ||
  skip "a container does not reach the npm registry: $(tail -n1 "$run/registry.log")"
copy_checkout
build_images
# Beside each other: both mostly wait, for health checks and for what was killed.
check_pods &
pods=$!
processes+=("$pods")
check_stack
wait "$pods" || fail "the chart's Ray pods"
tell_stand_ins
say "check:images passed"
