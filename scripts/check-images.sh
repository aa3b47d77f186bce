#!/usr/bin/env bash
# Builds the images and runs docker-compose.yml and the chart's Ray pods on a Docker engine of its own, in network and
# mount namespaces of its own. Nothing is installed on this machine and nothing listens on its network. The base images
# come from a registry, which a check may not reach, so stand-ins of the same names are made from Debian and Python
# packages; the last lines say what they replace. Needs root on Debian 12, x86-64; elsewhere it says so and ends with 0.
# Everything that is fetched or built stays in .cache/images for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$root/.cache/images
# Short: the path of a Unix socket has at most 107 characters.
run=$(mktemp -d /tmp/echelon-images.XXXXXX)
src=$run/echelon
started=$SECONDS
say() { echo "[$((SECONDS - started)) s] $*"; }
fail() {
  say "FAILED: $*"
  exit 1
}
skip() {
  say "SKIPPED check:images: $*"
  exit 0
}

# shellcheck source=scripts/check-images/engine.sh
. scripts/check-images/engine.sh
# shellcheck source=scripts/check-images/stack.sh
. scripts/check-images/stack.sh
# shellcheck source=scripts/check-images/pods.sh
. scripts/check-images/pods.sh

# The tracked files as a checkout under umask 077 has them; secrets of this checkout stay out.
copy_checkout() {
  (
    umask 077
    mkdir "$src"
    git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$src" --no-same-permissions
  )
}

trap 'stop_engine' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work"
why_not
fetch_engine >"$run/fetch.log" 2>&1 || skip "the engine's packages cannot be fetched: $(tail -n1 "$run/fetch.log")"
start_engine
say "the engine runs: Docker $(docker version --format '{{.Server.Version}}'), Compose $(docker-compose version --short)"
make_stand_ins >"$run/stand-ins.log" 2>&1 || skip "the stand-ins cannot be made: $(tail -n1 "$run/stand-ins.log")"
say "stand-ins of the base images are there"
docker run --rm "$node_image" timeout 30 npm view --json commander@14.0.3 version >"$run/registry.log" 2>&1 ||
  skip "a container does not reach the npm registry: $(tail -n1 "$run/registry.log")"
copy_checkout
check_stack
check_pods
tell_stand_ins
say "check:images passed"
