#!/usr/bin/env bash
# Makes the Python environment of a trainer in .cache/trainers/NAME-DIGEST, if it is not there, and prints its Python:
#   scripts/test/trainer-environments.sh all
#   scripts/test/trainer-environments.sh [--made] torch|trl|verl|swift|verl-agent
# --made: makes none, and fails if there is none. The packages of .venv and torch are shared, so that torch is downloaded
# once. Only pip sees packages of another environment, so uv is not used. Test files name their trainer in their first
# comment (`# needs: trl`).
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-}" = all ]; then
  for trainer in trl verl swift verl-agent; do scripts/test/trainer-environments.sh "$trainer"; done
  exit
fi
made_only=
[ "${1:-}" != --made ] || { made_only=yes && shift; }
name=${1:?torch, trl, verl, swift or verl-agent}
[ -f "scripts/test/trainers/$name.txt" ] || { echo "unknown trainer: $name" >&2 && exit 2; }
cache=$PWD/.cache/trainers

# directory NAME: of an environment by its requirements and those that it shares.
directory() {
  local digest
  digest=$(cat "scripts/test/trainers/$1.txt" scripts/test/trainers/torch.txt deploy/ray-worker/requirements.lock \
    test/requirements.lock | sha256sum | cut -c1-12)
  echo "$cache/$1-$digest"
}

packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# make NAME PYTHON…: shares the packages of each Python.
make() {
  local place shared
  place=$(directory "$1")
  rm -rf "$cache/$1"-????????????
  .venv/bin/python -m venv --without-pip "$place"
  for shared in "${@:2}"; do packages "$shared"; done >"$(packages "$place/bin/python")/shared.pth"
  echo "installing the packages of scripts/test/trainers/$1.txt" >&2
  .venv/bin/python -m pip --python "$place/bin/python" install --quiet --disable-pip-version-check \
    -r "scripts/test/trainers/$1.txt" >&2
  touch "$place/made"
}

is_made() { [ -f "$(directory "$1")/made" ]; }

if ! is_made "$name"; then
  [ -z "$made_only" ] || exit 1
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock 9
  is_made torch || make torch .venv/bin/python
  is_made "$name" || make "$name" "$(directory torch)/bin/python" .venv/bin/python
fi
echo "$(directory "$name")/bin/python"
