#!/usr/bin/env bash
# Generates src/ray/gen from proto/ray/ray_client.proto: plain encode and decode, no reflection.
# The types need the comments (pbts reads them), the code does not: hence two passes.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
options=(--target static-module --wrap esm --es6 --force-number --keep-case
  --no-create --no-verify --no-convert --no-delimited --no-typeurl --no-service --root ray-client)
mkdir -p src/ray/gen
pbjs "${options[@]}" --dts --out "$scratch/ray-client.js" proto/ray/ray_client.proto
cp "$scratch/ray-client.d.ts" src/ray/gen/ray-client.d.ts
pbjs "${options[@]}" --no-comments --out src/ray/gen/ray-client.js proto/ray/ray_client.proto
