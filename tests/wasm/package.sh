#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Packs the npm package of a build folder, installs it into an empty project, and there compiles the example of its types
# and runs its tests: package.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
project=$build/project

archive=$(cd "$build/package" && npm pack --silent --pack-destination "$build")
rm -rf "$project" && mkdir -p "$project/wasm"
cp -r models tests/reference/onnx "$project"
cp -r wasm/test "$project/wasm"
mv "$project/wasm/test/package.json" "$project"
cd "$project"
npm install --silent --no-audit --no-fund --no-save typescript@5.9 playwright-core@1.65 "$build/$archive"

npx tsc --project wasm/test
size_of() { cat node_modules/kaiseki/dist/"$1".* node_modules/kaiseki/src/*.js | gzip -9 | wc -c; }
size=$(size_of kaiseki) limit=450000
echo "gzipped: $size bytes without threads (at most $limit), $(size_of kaiseki-threads) with them"
[ "$size" -le $limit ]

status=0
node --test --test-reporter=tap wasm/test/ >tests.tap || status=$?
cat tests.tap
echo "checks: $(sed -n 's/^# pass //p' tests.tap) passed, $(sed -n 's/^# fail //p' tests.tap) failed"
exit $status
