#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh SECONDS [BUILD]: runs every fuzz target for SECONDS, two at a time. Fails on a finding. New inputs of a target
# are stored in BUILD/corpus, findings in BUILD/findings.
set -euo pipefail
seconds=${1:?usage: run.sh SECONDS [BUILD]}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${2:-$root/build/fuzz}" && pwd)
targets=$(cd "$root/tests/fuzz" && ls *_fuzz.cc | sed 's/_fuzz\.cc$//')

mkdir -p "$build/findings"
"$build/tests/fuzz/fuzz_seeds" "$build/seeds"
mkdir -p "$build/seeds/network_json"
cp "$root"/models/*.json "$build/seeds/network_json/"
mkdir -p "$build/seeds/jpeg_stb"
cp "$root"/tests/nn/data/jpeg/*.jpg "$build/seeds/picture/"
cp "$root"/tests/nn/data/jpeg/*.jpg "$build/seeds/jpeg_stb/"
mkdir -p "$build/seeds/onnx"
cp "$root"/tests/reference/onnx/*.onnx "$build/seeds/onnx/"
"$root/tests/dist/wire/vectors/make.py" "$build/seeds/frame"

run_target() {
  local name=$1 log="$build/findings/$1.log"
  mkdir -p "$build/corpus/$name"
  if nice -n 10 "$build/tests/fuzz/${name}_fuzz" -max_total_time="$seconds" -max_len=16384 -timeout=20 \
      -rss_limit_mb=1024 -malloc_limit_mb=512 -print_final_stats=1 \
      -artifact_prefix="$build/findings/$name-" "$build/corpus/$name" "$build/seeds/$name" >"$log" 2>&1; then
    printf 'checks: 1 passed, 0 failed (%s: %s runs, no finding)\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    printf 'checks: 0 passed, 1 failed (%s: finding, see %s)\n' "$name" "$log"
    tail -40 "$log"
    return 1
  fi
}
export -f run_target
export build seconds
printf '%s\n' $targets | xargs -P 2 -I{} bash -c 'run_target {}'
