#!/usr/bin/env bash
# Generates src/verify/gen from the batch format of the wire: plain encode and decode, no reflection.
# The types need the comments (pbts reads them), the code does not: hence two passes.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PATH="$PWD/node_modules/.bin:$PATH"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
options=(--target static-module --wrap esm --es6 --force-number
  --no-create --no-verify --no-convert --no-delimited --no-typeurl --no-service --root batch)
sources=(proto/echelon/batch/v1/batch.proto)
mkdir -p src/verify/gen
pbjs "${options[@]}" --dts --out "$scratch/batch.js" "${sources[@]}"
cp "$scratch/batch.d.ts" src/verify/gen/batch.d.ts
pbjs "${options[@]}" --no-comments --out src/verify/gen/batch.js "${sources[@]}"
