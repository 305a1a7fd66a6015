#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares Kaiseki as WebAssembly with its peers from npm: run.sh BUILD_FOLDER [options of bench.js]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
shift
project=$build/bench-web
mkdir -p "$project"
cp -r bench/web/{*.js,*.json,sides} wasm/test/serve.js models "$project"
archive=$build/$(cd "$build/package" && npm pack --silent --pack-destination "$build")
cd "$project"
if ! cmp -s package-lock.json node_modules/installed.json; then
  npm ci --silent --no-audit --no-fund --ignore-scripts
  cp package-lock.json node_modules/installed.json
fi
npm install --silent --no-audit --no-fund --no-save --no-package-lock --ignore-scripts "$archive"
exec node bench.js "$@"
