# shellcheck shell=bash
# A Docker engine of its own and stand-ins of the base images. Sourced in the checkout's root by check-images.sh and
# check-verl-agent-image.sh.
root=$PWD
work=$root/.cache/images
engine=$work/engine
# Short: the path of a Unix socket has at most 107 characters.
run=$(mktemp -d /tmp/echelon-images.XXXXXX)
src=$run/echelon
started=$SECONDS
export DOCKER_HOST=unix://$run/docker.sock DOCKER_CONFIG=$run DOCKER_BUILDKIT=1 COMPOSE_ANSI=never
export PATH=$engine/bin:$engine/usr/sbin:$engine/usr/bin:$PATH
processes=()
check=check:$(basename "$0" .sh | cut -d- -f2-)

said=$started

# Prints the seconds since the start and since the last line.
say() {
  echo "[$((SECONDS - started)) s, +$((SECONDS - said))] $*"
  said=$SECONDS
}
fail() {
  say "FAILED: $*"
  exit 1
}
skip() {
  say "SKIPPED $check: $*"
  exit 0
}

# Starts the engine, with the stand-ins in it. The end of the script stops it.
open_engine() {
  trap 'stop_engine' EXIT
  trap 'exit 130' INT TERM
  mkdir -p "$work"
  why_not
  fetch_engine >"$run/fetch.log" 2>&1 || skip "the engine's packages cannot be fetched: $(tail -n1 "$run/fetch.log")"
  start_engine
  say "the engine runs: Docker $(docker version --format '{{.Server.Version}}'), Compose $(docker-compose version --short)"
  make_stand_ins >"$run/stand-ins.log" 2>&1 || skip "the stand-ins cannot be made: $(tail -n1 "$run/stand-ins.log")"
  say "stand-ins of the base images are there"
}

# The tracked files as a checkout under umask 077 has them; secrets of this checkout stay out.
copy_checkout() {
  (
    umask 077
    mkdir "$src"
    git ls-files -co --exclude-standard -z | tar --null --ignore-failed-read -T - -cf - | tar -xf - -C "$src" --no-same-permissions
    sed -i -E 's/@sha256:[0-9a-f]{64}//' "$src/docker-compose.yml" "$src"/deploy/docker/*Dockerfile
  )
}

# Skips the check with the reason if this machine cannot run an engine.
why_not() {
  [ "$(uname -sm)" = "Linux x86_64" ] || skip "needs Linux on x86-64"
  [ "$(id -u)" -eq 0 ] || skip "needs root, for an engine in namespaces of its own"
  grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release || skip "needs Debian 12, whose packages make the engine"
  command -v apt-get git >/dev/null || skip "needs apt and git"
  [ -x node_modules/node/bin/node ] && [ -x .venv/bin/pip ] || skip "needs npm run setup"
  grep -qw overlay /proc/filesystems || skip "the kernel has no overlay file system"
  [ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
  unshare --net --mount true 2>/dev/null || skip "namespaces are not permitted here"
}

# Programs on private paths need their libraries from there as well.
wrap() {
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%q XTABLES_LIBDIR=%q exec %q "$@"\n' "$engine/usr/lib/x86_64-linux-gnu" \
    "$engine/usr/lib/x86_64-linux-gnu/xtables" "$1" >"$engine/bin/$2"
  chmod 0755 "$engine/bin/$2"
}

# Unpacks the engine from Debian's packages, without installing them; Compose v2 comes from Debian 13.
fetch_engine() {
  [ ! -e "$engine/done" ] || return 0
  rm -rf "$engine" && mkdir -p "$engine/bin" "$run/debs/partial" "$run/lists/partial" || return
  local uri next=(-qq -o "Dir::State::lists=$run/lists" -o "Dir::Etc::sourcelist=$run/next.list" -o Dir::Etc::sourceparts=/dev/null)
  # shellcheck disable=SC2016 # apt expands it
  uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri trixie main" >"$run/next.list"
  apt-get -qq update &&
    apt-get -qq install -y --download-only --reinstall --no-install-recommends -o "Dir::Cache::archives=$run/debs" \
      docker.io slirp4netns mmdebstrap iptables &&
    (cd "$run/debs" && apt-get -qq download prometheus && apt-get "${next[@]}" update && apt-get "${next[@]}" download docker-compose) || return
  local package
  for package in "$run"/debs/*.deb; do dpkg-deb -x "$package" "$engine" || return; done
  local name
  for name in iptables ip6tables; do wrap "$engine/usr/sbin/$name-nft" $name; done
  wrap "$engine/usr/bin/slirp4netns" slirp4netns
  ln -s "$engine/usr/libexec/docker/cli-plugins/docker-compose" "$engine/bin/docker-compose"
  touch "$engine/done"
}

start_engine() {
  cat >"$run/inner.sh" <<'INNER'
ip link set lo up
echo $$ >"$1/pid"
until ip -4 addr show tap0 2>/dev/null | grep -q inet; do sleep 0.1; done
sysctl -qw net.ipv4.ip_forward=1
echo nameserver 10.0.2.3 >"$1/resolv.conf"
mount --bind "$1/resolv.conf" /etc/resolv.conf
exec dockerd --data-root "$2/docker" --exec-root "$1/exec" --pidfile "$1/dockerd.pid" -H "unix://$1/docker.sock"
INNER
  unshare --net --mount --propagation slave bash "$run/inner.sh" "$run" "$work" >"$run/dockerd.log" 2>&1 &
  processes+=($!)
  wait_until 10 test -s "$run/pid" || skip "the engine's namespace does not start: $(tail -n1 "$run/dockerd.log")"
  slirp4netns --configure --mtu=65520 --disable-host-loopback "$(cat "$run/pid")" tap0 >"$run/slirp.log" 2>&1 &
  processes+=($!)
  wait_until 40 docker version || skip "the engine does not start: $(tail -n1 "$run/dockerd.log")"
  clear_engine
}

# wait_until SECONDS COMMAND…: repeats the command until it succeeds.
wait_until() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.3
  done
}

random_token() { od -An -tx1 -N32 /dev/urandom | tr -d ' \n'; }

# Removes what a run leaves: images stay. Also before a run, since the one before it may have been killed.
clear_engine() {
  docker ps -aq | xargs -r docker rm -f >/dev/null 2>&1 || true
  docker volume ls -q | xargs -r docker volume rm -f >/dev/null 2>&1 || true
  docker network prune -f >/dev/null 2>&1 || true
  docker image prune -f >/dev/null 2>&1 || true
}

stop_engine() {
  local status=$?
  trap - EXIT INT TERM
  if [ -s "$run/dockerd.pid" ]; then
    clear_engine
  fi
  local process
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null || true; done
  if [ "$status" -ne 0 ] && [ "$status" -ne 130 ]; then
    for log in "$run"/*.log; do printf -- '--- %s\n' "${log##*/}" && tail -n 15 "$log"; done
  fi
  rm -rf "$run"
  exit "$status"
}

# The base images that the Dockerfiles and the compose file name, without digests: a stand-in cannot have one.
node_image=$(sed -n 's/^ARG NODE_IMAGE=\([^@]*\).*/\1/p' deploy/docker/Dockerfile)
ray_image=$(sed -n 's/^ARG RAY_IMAGE=\([^@]*\).*/\1/p' deploy/docker/ray.Dockerfile)
image_of() { sed -n "s|^    image: \($1:[^@]*\).*|\1|p" docker-compose.yml; }
# The packages of Ray's own image as far as the project relies on them, at the versions that Ray pins for its images.
ray_version=${ray_image#*:}
ray_packages=("ray[default,client]==${ray_version%%-*}" protobuf==4.25.8 grpcio==1.74.0
  numpy==1.26.4 setuptools==80.9.0 wheel)

# Builds what the Dockerfiles and the compose file name as bases; a stand-in whose inputs are unchanged is kept.
make_stand_ins() {
  local context=$work/context wheels=$work/context/wheels
  local npm stamp
  # Not `npm root -g`: it looks beside the first Node on PATH.
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
  local images=("node=$node_image" "ray=$ray_image" "redis=$(image_of redis)" "prometheus=$(image_of prom/prometheus)"
    "grafana=$(image_of grafana/grafana)")
  stamp=$( (cat scripts/check-images/stand-ins.Dockerfile node_modules/node/package.json &&
    declare -f make_stand_ins build_stand_in && echo "${images[@]}" "${ray_packages[@]}") | sha256sum)
  if [ "$(cat "$work/stamp" 2>/dev/null)" = "$stamp" ] && docker image inspect local/stamp >/dev/null 2>&1; then return 0; fi
  mkdir -p "$wheels"
  .venv/bin/pip download -q -d "$wheels" --only-binary=:all: --python-version 3.11 "${ray_packages[@]}" &
  local download=$!
  [ -s "$work/root.tar" ] || mmdebstrap --quiet --variant=minbase \
    --include=ca-certificates,redis-server,python3-minimal,python3-venv,procps,libatomic1 bookworm "$work/root.tar" || return
  wait "$download" || return
  docker image inspect local/debian >/dev/null 2>&1 || docker import "$work/root.tar" local/debian || return
  cp /etc/ssl/certs/ca-certificates.crt "$context/" && cp node_modules/node/bin/node "$engine/usr/bin/prometheus" "$context/" || return
  rm -rf "$context/npm" && cp -rL "$npm" "$context/npm" || return
  local one
  for one in "${images[@]}"; do
    build_stand_in "${one%%=*}" "${one#*=}" || return
  done
  docker tag local/debian local/stamp
  echo "$stamp" >"$work/stamp"
}

# build_stand_in TARGET IMAGE
build_stand_in() {
  docker build -q -f scripts/check-images/stand-ins.Dockerfile --target "$1" -t "$2" \
    --build-arg "REGISTRY=$(npm config get registry)" --build-arg "RAY_PACKAGES=${ray_packages[*]}" "$work/context"
}

tell_stand_ins() {
  cat <<'END'
Stand-ins of the base images, made here because no container registry is used:
  node        Debian 12 with the project's Node binary and this machine's npm
  redis       Debian's Redis 7.0 instead of 7.2; without the official entrypoint, which passes `sh` commands through
  ray         Debian's Python 3.11 with Ray's wheels and the versions that Ray pins; user 1000:100 at /home/ray
  prometheus  Debian's Prometheus 2.42 instead of 3.5; user 65534
  grafana     a process of user 472 that reads its files and does nothing
Not run: the verl-agent image (npm run check:verl-agent-image), a Kubernetes API server, KubeRay's operator, a network plugin.
END
}
