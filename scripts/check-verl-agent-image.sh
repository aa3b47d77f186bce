#!/usr/bin/env bash
# Builds verl-agent.Dockerfile, without and with WebShop, on a Docker engine of its own (see check-images.sh), and proves
# without a GPU what is in it: packages as locked, imports, a game, a search, a Ray with its ray-worker. Downloads 7 GB
# from the package index at each run and needs 40 GB of disk, so it is no part of CI.
#   npm run check:verl-agent-image -- [--home DIR]     DIR: a verl-agent checkout, whose own code then runs in the image
set -euo pipefail
cd "$(dirname "$0")/.."
home=
if [ "${1:-}" = --home ]; then home=$(realpath "${2:?--home needs a directory}"); fi

# shellcheck source=scripts/check-images/engine.sh
. scripts/check-images/engine.sh

# Ray's image for GPUs, and wheels in place of the two files that come from GitHub's releases.
make_gpu_stand_ins() {
  local context=$work/context
  rm -rf "$context/wheels-of-verl-agent" && mkdir -p "$context/wheels-of-verl-agent"
  flash_attn=$(make_wheel flash_attn 2.8.3)
  spacy_model=$(make_wheel en_core_web_sm 3.8.0 'import spacy' 'def load(**_): return spacy.blank("en")')
  build_stand_in ray-gpu "$(sed -n 's/^ARG RAY_IMAGE=//p' deploy/docker/verl-agent.Dockerfile)"
}

make_wheel() { echo "/opt/stand-ins/$(basename "$(python3 scripts/check-images/wheel.py "$work/context/wheels-of-verl-agent" "$@")")"; }

# build NAME OPTION…
build() {
  local name=$1
  shift
  docker build --quiet -f "$src/deploy/docker/verl-agent.Dockerfile" -t "$name" --build-arg "FLASH_ATTN=$flash_attn" \
    --build-arg "SPACY_MODEL=$spacy_model" "$@" "$src" >"$run/build.log" 2>&1 || fail "$name cannot be built"
  say "$name is built: $(docker images --format '{{.Size}}' "$name")"
}

# in_image NAME COMMAND…: as the compose file runs it, without a GPU.
in_image() {
  docker run --rm --init --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp:exec,mode=1777 \
    --shm-size 2g -e HOME=/tmp -v "$root:$root:ro" -w /tmp "$@"
}

check_head() {
  local secrets=$run/secrets
  mkdir -m 0755 "$secrets"
  for name in ray ray-worker; do random_token >"$secrets/$name"; done
  chmod a+r "$secrets"/*
  docker run -d --name head --init --read-only --cap-drop ALL --security-opt no-new-privileges -v scratch:/tmp -v shared:/shared \
    --shm-size 2g -v "$secrets:/secrets:ro" -e ECHELON_RAY_TOKEN_FILE=/secrets/ray -e ECHELON_ADVERTISE=head \
    -e ECHELON_RAY_WORKER_TOKEN_FILE=/secrets/ray-worker echelon-verl-agent:0.1.0 >/dev/null
  wait_until 180 docker exec head python -c "import socket; socket.create_connection(('127.0.0.1', 7400), 3).close()" || {
    docker logs --tail 20 head
    fail "the ray-worker of the image does not serve"
  }
  say "Ray and its ray-worker run in the image, with these packages"
  docker rm -f head >/dev/null
}

open_engine
copy_checkout
make_gpu_stand_ins >"$run/gpu-stand-ins.log" 2>&1 || fail "the stand-in of Ray's GPU image cannot be made"
say "the stand-in of Ray's GPU image is there"
build echelon-verl-agent:0.1.0
in_image echelon-verl-agent:0.1.0 python "$root/scripts/check-images/verl_agent.py" "$root" || fail "the image"
check_head
if [ -n "$home" ]; then
  # pytest: the check uses helpers of the tests.
  in_image -v "$home:/shared/verl-agent:ro" -e HF_HOME=/tmp/huggingface -e PYTHONPATH=/tmp/tools echelon-verl-agent:0.1.0 sh -c \
    'pip install --quiet --no-deps --target /tmp/tools pytest pluggy iniconfig && exec python "$@"' _ "$root/scripts/check-verl-agent.py" \
    --home=/shared/verl-agent "--node=$root/node_modules/node/bin/node" || fail "verl-agent's own code in the image"
  say "the code of $home runs in the image"
fi
build echelon-verl-agent:webshop --build-arg WITH_WEBSHOP=true
in_image echelon-verl-agent:webshop python "$root/scripts/check-images/verl_agent.py" "$root" --webshop || fail "the image with WebShop"
cat <<'END'
Real: every package of verl-agent.lock (torch and vllm for CUDA 12.8 too), Debian's compilers, Java 11.
Stand-ins:
  rayproject/ray:…-cu128  Debian's Python 3.11 with Ray's wheels; no CUDA. Java 11 from Debian 11 in place of Ubuntu's
  flash-attn              an empty module of its version, in place of the wheel from GitHub's releases
  en_core_web_sm          spaCy's empty English pipeline, in place of the wheel from GitHub's releases
Not run: anything on a GPU, the games of ALFWorld and the data of WebShop.
END
say "$check passed"
