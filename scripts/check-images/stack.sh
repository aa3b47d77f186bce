# shellcheck shell=bash
# The compose file as it is: built, started, used, killed, stopped. Sourced by check-images.sh.
SECRETS=(redis-password api-token cookie-secret ray-token ray-worker-token grafana-password)

compose() { (cd "$src" && docker-compose "$@"); }

# The command line of the api's image, with its own token.
echelon() {
  docker exec -i echelon-api-1 sh -c 'ECHELON_URL=http://127.0.0.1:7077 ECHELON_TOKEN=$(cat /run/secrets/api-token) exec echelon "$@"' _ "$@"
}

# submit STEPS OPTION…: a training on the compose file's own Ray.
submit() {
  local steps=$1
  shift
  echelon submit - --set "training.steps=$steps" "$@" <"$src/deploy/examples/hgpo.yaml"
}

build_images() {
  compose build --quiet api ray >"$run/build.log" 2>&1 || fail "the images cannot be built"
  say "images built: $(docker images --format '{{.Repository}} {{.Size}}' | grep '^echelon' | paste -sd, -)"
}

check_stack() {
  check_missing_secrets
  (cd "$src" && deploy/docker/make-secrets.sh >/dev/null)
  compose -f docker-compose.yml -f deploy/docker/bucket.yml --profile gpu config -q || fail "gpu with a bucket is no valid configuration"
  oidc_stack="compose -f docker-compose.yml -f deploy/docker/oidc.yml config -q"
  $oidc_stack 2>/dev/null && fail "sign-in of people without an issuer is a valid configuration"
  ECHELON_OIDC_ISSUER=https://login.example.org ECHELON_OIDC_CLIENT_ID=echelon ECHELON_OIDC_GRANTS=guests=vision:read \
    $oidc_stack || fail "sign-in of people is no valid configuration"
  start_stack
  say "compose up: six services run, four of them with passing health checks"
  submit 10 --watch >"$run/training.log" 2>&1 || fail "a training does not succeed"
  say "a training of 10 steps: $(tail -n1 "$run/training.log")"
  check_reach
  check_kills
  check_canaries
  check_restart
}

start_stack() {
  compose up -d --wait --wait-timeout 240 >"$run/up.log" 2>&1 || {
    compose ps -a
    compose logs --tail 15
    fail "compose up does not become healthy"
  }
}

# rotate NAME…: new secrets, as docs/guides/docker.md describes.
rotate() { (cd "$src/deploy/docker/secrets" && rm "$@" && ../make-secrets.sh >/dev/null); }

# The dispatcher's cluster is ready for trainings.
has_ray() { echelon clusters ls | grep -q '^local *ready'; }

check_missing_secrets() {
  local output
  if output=$(compose up --no-build -d redis 2>&1); then fail "compose starts without secrets"; fi
  compose down >/dev/null 2>&1
  echo "$output" | grep -q "deploy/docker/secrets" || fail "no hint at the missing secrets: $output"
}

# Which port of which container each container reaches, at all addresses of the other.
check_reach() {
  local from actual
  declare -A wants=(
    [redis]="api:7077"
    [api]="dispatcher:9464 prometheus:9090 redis:6379"
    [dispatcher]="api:7077 api:9464 prometheus:9090 ray:10001 ray:6379 ray:7400 redis:6379"
    [ray]=""
    [prometheus]="api:7077 api:9464 dispatcher:9464"
    [grafana]="api:7077 api:9464 dispatcher:9464 prometheus:9090"
  )
  for from in "${!wants[@]}"; do
    reached "$from" >"$run/reached-$from" &
    wants[$from]="$! ${wants[$from]}"
  done
  for from in "${!wants[@]}"; do
    wait "${wants[$from]%% *}" || fail "the doors of $from cannot be tried"
    actual=$(cat "$run/reached-$from")
    [ "$actual" = "${wants[$from]#* }" ] || fail "$from reaches [$actual], not [${wants[$from]#* }]"
  done
  local outside
  outside=$(docker exec echelon-dispatcher-1 node -e 'require("dns").lookup(new URL(process.argv[1]).hostname, { family: 4 }, (e, a) => console.log(a))' "$(npm config get registry 2>/dev/null)")
  opens dispatcher "$outside/443" || fail "the dispatcher has no way out of this machine"
  declare -A ways
  for from in redis ray prometheus; do
    opens "$from" "$outside/443" &
    ways[$from]=$!
  done
  for from in "${!ways[@]}"; do
    ! wait "${ways[$from]}" || fail "$from has a way out of this machine"
  done
  say "each container reaches what the threat model says, and nothing else"
}

# reached FROM: the ports of other containers that the container reaches, in order.
reached() {
  local to port address doors=()
  declare -A ports=([redis]="6379" [api]="7077 9464" [dispatcher]="9464" [ray]="7400 10001 6379 8265" [prometheus]="9090")
  for to in "${!ports[@]}"; do
    [ "$to" != "$1" ] || continue
    for address in $(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}' "echelon-$to-1"); do
      for port in ${ports[$to]}; do doors+=("$to:$port $address/$port"); done
    done
  done
  # shellcheck disable=SC2016 # the container's shell expands
  docker exec "echelon-$1-1" bash -c 'for door; do
      (timeout 2 bash -c "exec 3<>/dev/tcp/${door#* }" 2>/dev/null && echo "${door% *}") &
    done; wait' _ "${doors[@]}" | sort -u | paste -sd' ' -
}

opens() { docker exec "echelon-$1-1" timeout 3 bash -c "exec 3<>/dev/tcp/$2" 2>/dev/null; }

# The values of a query to Prometheus, one a line.
metric() {
  # shellcheck disable=SC2016 # the container's shell expands
  docker exec echelon-prometheus-1 bash -c 'exec 3<>/dev/tcp/127.0.0.1/9090
    printf "GET /api/v1/query?query=$1 HTTP/1.0\r\n\r\n" >&3; cat <&3' _ "$1" | grep -oP ',"\K[0-9.]+(?="\])'
}

# Both services answer Prometheus.
scraped() { [ "$(metric up | grep -cx 1)" -eq 2 ]; }

# Prometheus and Grafana have lost nothing of what they stored before the argument, a time in seconds.
monitors() {
  # The stand-in of Grafana writes a line into its volume at each start.
  [ "$(metric "min(min_over_time(timestamp(up)[1h:1s]))" | cut -d. -f1)" -le "$1" ] &&
    [ "$(docker exec echelon-grafana-1 cat /var/lib/grafana/starts | wc -l)" -ge 2 ]
}

# No secret stands in a description, a log, a command line or an image.
check_canaries() {
  local name value
  docker ps -aq | xargs docker inspect >"$run/seen" && compose logs >>"$run/seen" 2>&1
  ps axww -o args >>"$run/seen"
  docker history --no-trunc echelon:0.1.0 >>"$run/seen" && docker history --no-trunc echelon-ray:0.1.0 >>"$run/seen"
  for name in "${SECRETS[@]}"; do
    value=$(cat "$src/deploy/docker/secrets/$name")
    ! grep -qF "$value" "$run/seen" || fail "the secret $name is shown by docker inspect, a log, ps or an image"
  done
  say "no secret in docker inspect, logs, command lines and images"
}

healthy() {
  local name
  for name in "$@"; do [ "$(docker inspect -f '{{.State.Health.Status}}' "echelon-$name-1")" = healthy ] || return 1; done
}

# Kills the first process of each container from outside, as the kernel would, in the middle of one training. Ray comes
# last: a second attempt proves that the training still ran then.
check_kills() {
  local id name killed=(redis api prometheus grafana dispatcher ray) attempts from
  wait_until 40 scraped || fail "Prometheus does not scrape both services"
  from=$(date +%s)
  id=$(submit 80) || fail "a second training is not accepted"
  wait_until 60 running "$id" || fail "$id does not run"
  for name in "${killed[@]}"; do
    sleep 1.5
    kill -9 "$(docker inspect -f '{{.State.Pid}}' "echelon-$name-1")"
  done
  for name in "${killed[@]}"; do wait_until 60 restarted "$name" || fail "$name does not start again after kill -9"; done
  check_wrong_secrets
  wait_until 120 healthy redis api dispatcher ray || fail "not all are healthy after kill -9"
  wait_until 40 monitors "$from" || fail "Prometheus or Grafana has lost its data after kill -9"
  echelon watch "$id" >"$run/watch.log" 2>&1 || fail "the training does not survive kill -9 of each container"
  attempts=$(echelon get "$id" --json | field attempt)
  [ "$attempts" -ge 2 ] || fail "Ray was killed after the training had ended"
  say "kill -9 of ${killed[*]} in mid-training, then attempt $attempts: $(tail -n1 "$run/watch.log")"
}

field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
running() { [ "$(echelon get "$1" --json | field state)" = running ]; }
restarted() { [ "$(docker inspect -f '{{.RestartCount}}' "echelon-$1-1")" -gt 0 ]; }

# Id, state and verification of every experiment.
records() {
  echelon ls --json | python3 -c 'import json, sys
for one in json.load(sys.stdin)["items"]: print(one["id"], one["state"], one.get("verification"))'
}

check_restart() {
  local before after old from=$SECONDS
  before=$(records)
  [ "$(wc -l <<<"$before")" -eq 2 ] || fail "there are not two experiments: $before"
  compose down >"$run/down.log" 2>&1 || fail "compose down fails"
  ! docker volume ls -q | grep -v -e '^echelon_' -e '^pods_' || fail "compose down leaves unnamed volumes"
  say "compose down took $((SECONDS - from)) s and leaves no unnamed volume"
  old=$(cat "$src/deploy/docker/secrets/api-token")
  rotate "${SECRETS[@]}"
  start_stack
  after=$(records)
  [ "$before" = "$after" ] || fail "down, new secrets and up changed the records from $before to $after"
  ! docker exec -e "ECHELON_TOKEN=$old" -e ECHELON_URL=http://127.0.0.1:7077 echelon-api-1 echelon ls >/dev/null 2>&1 ||
    fail "the old token still works"
  wait_until 30 has_ray || fail "the dispatcher does not reach Ray with the new token"
  say "compose down, new secrets and up keep every record; the old token is refused"
  compose kill >"$run/down.log" 2>&1 || fail "compose kill fails"
}

# wrong VARIABLE CONTENT SERVICE SENTENCE COMMAND…: a second container of the service, with that content in the file that
# the variable or its command names, ends and says why.
wrong() {
  local file=$run/wrong-$1-$3-${#2} output status=0
  printf '%s' "$2" >"$file"
  chmod a+r "$file"
  output=$(cd "$src" && timeout 90 docker-compose run --rm --no-deps -T -v "$file:/wrong:ro" -e "$1=/wrong" "$3" "${@:5}" 2>&1) || status=$?
  if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || ! grep -q "$4" <<<"$output"; then
    echo "$3 does not refuse a wrong $1 with '$4' ($status): $output"
    return 1
  fi
}

check_wrong_secrets() {
  local one checks=()
  wrong ECHELON_TOKENS_FILE "" api 'ECHELON_TOKENS has an empty file' & checks+=($!)
  wrong ECHELON_TOKENS_FILE "short" api 'ECHELON_TOKENS must hold tokens of at least' & checks+=($!)
  wrong ECHELON_COOKIE_SECRET_FILE "short" api 'ECHELON_COOKIE_SECRET must have at least' & checks+=($!)
  wrong REDIS_PASSWORD_FILE "not-the-password-of-this-redis" api 'password' & checks+=($!)
  wrong REDIS_PASSWORD_FILE "not-the-password-of-this-redis" dispatcher 'password' & checks+=($!)
  wrong ECHELON_RAY_TOKEN_FILE "" ray 'ECHELON_RAY_TOKEN_FILE: the file /wrong must hold a token' & checks+=($!)
  wrong ECHELON_RAY_WORKER_TOKEN_FILE "short" ray 'ECHELON_RAY_WORKER_TOKEN_FILE: the file /wrong must hold' & checks+=($!)
  wrong GF_SECURITY_ADMIN_PASSWORD__FILE "" grafana 'grafana-password must hold at least' & checks+=($!)
  wrong RAY_WORKER_TOKEN_FILE "" dispatcher 'token-file /wrong is empty' \
    dispatcher --cluster local=ray:7400 --cluster-token-file /wrong & checks+=($!)
  for one in "${checks[@]}"; do wait "$one" || fail "a wrong secret is not refused with a sentence"; done
  say "wrong secrets are refused with a sentence"
}
