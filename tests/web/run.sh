#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the page with the npm package of a build folder, and a native command that contains the page. Runs the page's
# tests in Node and in headless Chromium. Usage: run.sh BUILD_FOLDER. Set KAISEKI_COMMAND to test another command that
# contains the page.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD build=$(realpath "$1")
. tests/support/tap.sh
if [ -n "${KAISEKI_COMMAND:-}" ] && [ ! -x "$KAISEKI_COMMAND" ]; then
  echo "run.sh: expected KAISEKI_COMMAND to be a program, got $KAISEKI_COMMAND" >&2
  exit 1
fi

web/build "$build"
if [ -z "${KAISEKI_COMMAND:-}" ]; then
  native=build/page  # as deep as build/release, so that the compiler cache has its objects
  cmake -S . -B $native -G Ninja -DCMAKE_BUILD_TYPE=Release -DKAISEKI_WERROR=ON -DKAISEKI_BUILD_TESTS=OFF \
    -DKAISEKI_PAGE="$build/page" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache
  cmake --build $native --target kaiseki -j "$(nproc)"
  export KAISEKI_COMMAND=$PWD/$native/cli/kaiseki
fi

cd "$build/web"
npx tsc --noEmit
echo "page: $(cat "$build"/page/assets/page-*.js | gzip -9 | wc -c) bytes of its own JavaScript, gzipped"

status=0
npx vitest run --reporter=tap-flat >unit.tap || status=$?
cat unit.tap
rm -rf taps && mkdir taps
# Runs one file of tests. --test-force-exit: a test that fails before it closes its server must not keep the file running.
# `node --test` would run the file in another process, and lose its last results when that process ends.
# If Chromium itself ends, the file runs once more. A page that makes Chromium end does so again.
run_file() {
  local tap start=$SECONDS
  tap=taps/$(basename "$1" .test.js).tap
  trap 'echo "web: $1 took $((SECONDS - start)) s"; trap - RETURN' RETURN
  node --test-force-exit --test-reporter=tap "$1" >"$tap" && return
  grep -q 'Target page, context or browser has been closed' "$tap" || return 1
  echo "web: Chromium ended during $1, which runs once more"
  grep -A20 'Target page, context or browser has been closed' "$tap"
  node --test-force-exit --test-reporter=tap "$1" >"$tap"
}
export -f run_file
export KAISEKI_PAGE=$build/page
e2e() {  # files at the same time, files
  printf '%s\n' "${@:2}" | xargs -P "$1" -I{} bash -c 'run_file {}' || status=$?
}
# These files measure times, so nothing runs beside them.
timed=(e2e/{firefox,large_pool,playground,steady,volunteer}.test.js)
mapfile -t others < <(printf '%s\n' e2e/*.test.js | grep -vxFf <(printf '%s\n' "${timed[@]}"))
e2e 1 "${timed[@]}"
e2e "$(nproc)" "${others[@]}"
cat taps/*.tap >e2e.tap
sed "s|^ *ok [0-9]* - \(.*\) # SKIP \(.*\)|&\nSKIPPED: \1: \2|" e2e.tap
python3 "$root/tests/cli/pool_js_train_test.py" "$KAISEKI_COMMAND" pool/join.js || status=$?
passed=$(($(grep -c '^ok' unit.tap) + $(sum_of pass e2e.tap)))
skipped=$(sum_of skipped e2e.tap)
failed=$(($(grep -c '^not ok' unit.tap) + $(sum_of fail e2e.tap)))
echo "checks: $passed passed, $failed failed, $skipped skipped"
exit $status
