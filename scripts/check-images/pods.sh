# shellcheck shell=bash
# The containers of the chart's Ray pods, with the commands that KubeRay generates. Sourced by check-images.sh.

check_pods() {
  bash scripts/check-chart.sh --render helm/echelon/examples/ray.yaml >"$run/manifests.json" 2>"$run/render.log" ||
    fail "the chart cannot be rendered"
  .venv/bin/python scripts/check-images/pods.py <"$run/manifests.json" >"$run/pods" || fail "the RayCluster cannot be read"
  # shellcheck disable=SC1091
  . "$run/pods"
  mkdir -m 0755 "$run/ray-secret"
  random_token >"$run/ray-secret/ray-worker-token"
  chmod a+r "$run/ray-secret/ray-worker-token"
  docker network create --internal pods >/dev/null
  local pod=(--init --user 1000:100 --read-only --cap-drop ALL --security-opt no-new-privileges -v pods_shared:/shared
    -e RAY_AUTH_MODE=token -e RAY_USAGE_STATS_ENABLED=0 -e "RAY_AUTH_TOKEN=$(random_token)")
  local head=("${pod[@]}" --network container:head-pod -v pods_tmp_head:/tmp -v "$run/ray-secret:/etc/echelon/ray:ro"
    -e RAY_ADDRESS=127.0.0.1:6379)
  # The network of a pod outlives its containers.
  docker run -d --name head-pod --network pods --network-alias head local/debian sleep infinity >/dev/null
  docker run -d --name ray-head "${head[@]}" echelon-ray:0.1.0 "${HEAD_START[@]}" >/dev/null
  docker run -d --name ray-worker-start "${head[@]}" echelon-ray:0.1.0 "${START_COMMAND[@]}" >/dev/null
  docker run -d --name ray-node "${pod[@]}" --network pods -v pods_tmp_node:/tmp --shm-size 1g -e RAY_ADDRESS=head:6379 \
    echelon-ray:0.1.0 bash -c "until ray health-check --address head:6379 >/dev/null 2>&1; do sleep 1; done; $(printf '%q ' "${NODE_START[@]}")" >/dev/null
  wait_until 90 docker exec ray-head "${HEAD_PROBE[@]}" || pods_fail "the head's probe does not pass"
  wait_until 90 docker exec ray-node "${NODE_PROBE[@]}" || pods_fail "the node's probe does not pass"
  wait_until 90 serves_ray_worker || pods_fail "the ray-worker does not serve"
  say "Ray pods: KubeRay's commands run, a real Ray answers the probes, the ray-worker serves"
  kill -9 "$(docker inspect -f '{{.State.Pid}}' ray-head)"
  wait_until 20 not serves_ray_worker || pods_fail "the ray-worker serves without its head"
  ! docker exec ray-worker-start "${HEAD_PROBE[@]}" >/dev/null 2>&1 || pods_fail "the head's probe passes without a head"
  docker start ray-head >/dev/null
  wait_until 120 serves_ray_worker || pods_fail "the ray-worker is not started again after kill -9 of the head"
  say "Ray pods: after kill -9 of the head the ray-worker serves again"
}

not() { ! "$@"; }
serves_ray_worker() { docker exec head-pod bash -c 'exec 3<>/dev/tcp/127.0.0.1/7400'; }

pods_fail() {
  local name
  for name in ray-head ray-node ray-worker-start; do
    echo "--- $name"
    docker logs --tail 20 "$name" 2>&1
  done
  fail "$1"
}
