#!/usr/bin/env bash
# Runs a Ray head with its ray-worker in the foreground. SIGTERM ends both and every running attempt. Exits with 1 if
# the head ends by itself.
#
#   ECHELON_RAY_TOKEN_FILE         token of Ray itself
#   ECHELON_RAY_WORKER_TOKEN_FILE  token of the ray-worker; dispatchers send it
#   ECHELON_SECRETS_DIR            directory with one file per secret that a spec may name (default: below the shared root)
#   ECHELON_SHARED_ROOT            directory that all nodes see (default /shared)
#   ECHELON_ADVERTISE              host name under which dispatchers reach the ray-worker
#   ECHELON_HEAD_OPTIONS           more options for `ray start`
set -euo pipefail

shared=${ECHELON_SHARED_ROOT:-/shared}
port=7400
export RAY_USAGE_STATS_ENABLED=0 RAY_AUTH_MODE=token
# The attempts are stopped before the head; otherwise Ray would wait 30 s for the ray-worker, which never ends by itself.
export RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0

# token_in VARIABLE FILE: the token in the file, which the variable names. Refuses a short one, which could be guessed.
token_in() {
  local token
  token=$(tr -d '[:space:]' <"$2")
  if [ "${#token}" -lt 16 ]; then
    echo "$1: the file $2 must hold a token of at least 16 characters, not ${#token}" >&2
    return 1
  fi
  echo "$token"
}
RAY_AUTH_TOKEN=$(token_in ECHELON_RAY_TOKEN_FILE "${ECHELON_RAY_TOKEN_FILE:?is not set}")
export RAY_AUTH_TOKEN
token_in ECHELON_RAY_WORKER_TOKEN_FILE "${ECHELON_RAY_WORKER_TOKEN_FILE:?is not set}" >/dev/null

# shellcheck disable=SC2086 # options are words
ray start --head --block --port=6379 --ray-client-server-port=10001 --include-dashboard=false \
  ${ECHELON_HEAD_OPTIONS:-} &
head=$!

# `start` returns the ray-worker that exists, so that it can be repeated.
start_ray_worker() {
  until python -m echelon_rayworker.start --ray-address "127.0.0.1:6379" --state-dir "$shared/echelon" \
    --shared-root "$shared" --listen "0.0.0.0:$port" --advertise "${ECHELON_ADVERTISE:-$(hostname)}" \
    --token-file "$ECHELON_RAY_WORKER_TOKEN_FILE" --secrets-dir "${ECHELON_SECRETS_DIR:-}"; do
    sleep 2
  done
}
start_ray_worker &
starter=$!

# shellcheck disable=SC2329 # the trap calls it
end() {
  trap - TERM INT
  # Supervisors outlive Ray by design; a container that stops must leave no process.
  python -m echelon_rayworker.stop --address "127.0.0.1:$port" --token-file "$ECHELON_RAY_WORKER_TOKEN_FILE" \
    --reason "the Ray head stops" || true
  kill -TERM "$starter" "$head" 2>/dev/null || true
  wait "$head" || true
  exit 0
}
trap end TERM INT

# A starter that waits for a dead head would wait forever, so the head is waited for as well.
wait -n "$head" "$starter" || true
wait "$head" || true
echo "the Ray head has ended" >&2
exit 1
