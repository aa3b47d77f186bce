#!/usr/bin/env bash
# Generates src/rpc/gen from the ray-worker's proto and the health service: plain encode and decode, no reflection.
# The types need the comments (pbts reads them), the code does not: hence two passes.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
options=(--target static-module --wrap esm --es6 --force-number
  --no-create --no-verify --no-convert --no-delimited --no-typeurl --no-service --root ray-worker)
sources=(proto/echelon/rayworker/v1/rayworker.proto proto/grpc/health/v1/health.proto)
mkdir -p src/rpc/gen
pbjs "${options[@]}" --dts --out "$scratch/ray-worker.js" "${sources[@]}"
cp "$scratch/ray-worker.d.ts" src/rpc/gen/ray-worker.d.ts
pbjs "${options[@]}" --no-comments --out src/rpc/gen/ray-worker.js "${sources[@]}"
