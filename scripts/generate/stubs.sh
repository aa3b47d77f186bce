#!/usr/bin/env bash
# Generates the TypeScript side of proto/: plain encode and decode, no reflection.
# The types need the comments (pbts reads them), the code does not: hence two passes.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# stubs MODULE NAME "OPTIONS" PROTO…
stubs() {
  local out="src/$1/gen/$2" name="$2" options
  read -ra options <<<"--target static-module --wrap esm --es6 --force-number --no-create --no-verify --no-convert --no-delimited --no-typeurl --no-service --root $2 $3"
  shift 3
  mkdir -p "$(dirname "$out")"
  pbjs "${options[@]}" --dts --out "$scratch/$name.js" "$@"
  cp "$scratch/$name.d.ts" "$out.d.ts"
  pbjs "${options[@]}" --no-comments --out "$out.js" "$@"
}

stubs verify batch "" proto/echelon/batch/v1/batch.proto
stubs rpc ray-worker "" proto/echelon/rayworker/v1/rayworker.proto proto/grpc/health/v1/health.proto
stubs ray ray-client "--keep-case" proto/ray/ray_client.proto
