#!/usr/bin/env bash
# A Ray head with its ray-worker, in the foreground; ends both on SIGTERM, running attempts included.
#
#   ECHELON_RAY_TOKEN_FILE     token of Ray itself
#   ECHELON_WORKER_TOKEN_FILE  token of the ray-worker, which the dispatchers know
#   ECHELON_SECRETS_DIR        directory with a file for each secret that a spec may name (default: below the shared root)
#   ECHELON_SHARED_ROOT        directory that all nodes see (default /shared)
#   ECHELON_ADVERTISE          host name by which dispatchers reach the ray-worker
#   ECHELON_HEAD_OPTIONS       more options for `ray start`
set -euo pipefail

shared=${ECHELON_SHARED_ROOT:-/shared}
port=${ECHELON_WORKER_PORT:-7400}
temp=${ECHELON_RAY_TEMP:-/tmp/ray}
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(tr -d '[:space:]' <"${ECHELON_RAY_TOKEN_FILE:?is not set}")
export RAY_AUTH_TOKEN
: "${ECHELON_WORKER_TOKEN_FILE:?is not set}"

# shellcheck disable=SC2086 # options are words
ray start --head --block --port=6379 --ray-client-server-port=10001 --include-dashboard=false \
  --temp-dir="$temp" ${ECHELON_HEAD_OPTIONS:-} &
head=$!

end() {
  trap - TERM INT
  # Supervisors outlive Ray by design; a container that goes down must leave nothing behind.
  python -m echelon_rayworker.stop --address "127.0.0.1:$port" --token-file "$ECHELON_WORKER_TOKEN_FILE" \
    --reason "the Ray head goes down" || true
  kill -TERM "$head" 2>/dev/null || true
  wait "$head" || true
  exit 0
}
trap end TERM INT

# `start` finds a ray-worker that is there already, so that it may be repeated.
until python -m echelon_rayworker.start --ray-address "127.0.0.1:6379" --state-dir "$shared/echelon" \
  --shared-root "$shared" --listen "0.0.0.0:$port" --advertise "${ECHELON_ADVERTISE:-$(hostname)}" \
  --token-file "$ECHELON_WORKER_TOKEN_FILE" --secrets-dir "${ECHELON_SECRETS_DIR:-}"; do
  kill -0 "$head" 2>/dev/null || exit 1
  sleep 2
done

wait "$head"
