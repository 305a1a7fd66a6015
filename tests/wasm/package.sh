#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Packs the npm package of a build folder and installs it into four empty projects. They are a script, a Vite project,
# the project of docs/guides/page.md, and a test project. The test project compiles examples against the types and runs the tests. Usage: package.sh
# BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD build=$(realpath "$1")
. tests/support/tap.sh
project=$build/project
install() { npm install --silent --no-audit --no-fund --no-save "$@"; }

archive=$build/$(cd "$build/package" && npm pack --silent --pack-destination "$build")
tar -tzf "$archive" package/README.md >/dev/null || { echo "package.sh: expected the README in $archive" >&2; exit 1; }
[ "$(basename "$archive")" = "kaiseki-$(cmake/release --version).tgz" ] || { echo "package.sh: $archive has another version" >&2; exit 1; }
rm -rf "$project" "$build/vite" "$build/guide" "$build/script"
mkdir -p "$project/wasm" "$build/guide" "$build/script"
cp -r models tests/reference/onnx tests/reference/array_cases.txt tests/matrix/ops/numpy tests/nn/data/jpeg "$project"
cp -r wasm/test "$project/wasm"
mv "$project/wasm/test/package.json" "$project"
cp -r tests/wasm/vite "$build"
cp tests/wasm/script.mjs "$build/script"

(cd "$build/script" && install "$archive" && [ "$(node script.mjs)" = "2 7 10 15 22" ])
(cd "$build/vite" && install vite@8.3.8 "$archive" && npx vite build --logLevel warn)
# The project of docs/guides/page.md: a line that ends in a file's name and a colon stands before the file's contents.
awk -v folder="$build/guide" '/^```/ { if (!file) file = name; else file = ""; name = ""; next }
  file { print > (folder "/" file) } match($0, /`[a-z.]+`:$/) { name = substr($0, RSTART + 1, RLENGTH - 3) }' docs/guides/page.md
(cd "$build/guide" && cp -r ../vite/node_modules . && npx vite build --logLevel warn)
cd "$project"
install typescript@5.9 playwright-core@1.65 puppeteer-core@25.16 "$archive"

npx tsc --project wasm/test
(cd "$root" && node wasm/operation_types.js --check "$build/package")
size_of() { (cd node_modules/kaiseki && cat dist/"$1".* "${@:2}" | gzip -9 | wc -c); }
mapfile -t scripts < <(cd node_modules/kaiseki && ls src/*.js | grep -vE '/(arrays|arrays_code|learn|safetensors)\.js$')
size=$(size_of kaiseki "${scripts[@]}") limit=527000
echo "gzipped: $size bytes without threads (at most $limit), $(size_of kaiseki-threads "${scripts[@]}") with them"
learn=$(size_of kaiseki-learn src/{learn,safetensors,module,handle,environment,error,values}.js) learn_limit=413000
echo "gzipped: $learn bytes of kaiseki/learn (at most $learn_limit)"
arrays=$(size_of kaiseki-arrays src/{arrays,arrays_code,library,storage,scope,module,handle,environment,error,values}.js) arrays_limit=474000
echo "gzipped: $arrays bytes of kaiseki/arrays (at most $arrays_limit)"
[ "$size" -le $limit ]
[ "$learn" -le $learn_limit ]
[ "$arrays" -le $arrays_limit ]

status=0
export KAISEKI_FUZZ=${KAISEKI_FUZZ:-$root/build/fuzz}
# As in tests/web/run.sh: an open handle must not keep a file running, and `node --test` would lose results.
for file in wasm/test/*.test.js; do
  node --test-force-exit --test-reporter=tap "$file" || status=$?
done >tests.tap
sed "s/^# SKIPPED:/SKIPPED:/" tests.tap
echo "checks: $(sum_of pass tests.tap) passed, $(sum_of fail tests.tap) failed"
exit $status
