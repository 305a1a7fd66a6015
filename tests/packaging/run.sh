#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds examples/consumer against an installed Kaiseki and against its sources, and runs both; the same of examples/primes
# against an installed one, with a coordinator and a node.
# Usage: tests/packaging/run.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
passed=0 failed=0

try() {  # name, cmake options
  local name=$1; shift
  if cmake -S "$root/examples/consumer" -B "$work/$name" "${options[@]}" "$@" &&
     cmake --build "$work/$name" --target consumer && "$work/$name/consumer" "$root/models/lenet.json"; then
    passed=$((passed + 1))
  else
    echo "packaging: the consumer failed with $name"
    failed=$((failed + 1))
  fi
}

try_primes() {
  local state=$work/state url
  cmake -S "$root/examples/primes" -B "$work/primes" "${options[@]}" "-DCMAKE_PREFIX_PATH=$work/prefix" || return
  cmake --build "$work/primes" || return
  "$build/cli/kaiseki" serve --port 0 --state "$state" >"$work/url" &
  local pids=($!)
  until [ -s "$work/url" ]; do
    sleep 0.1
    kill -0 "${pids[0]}" || return
  done
  url=$(awk 'NR == 1 {print $NF}' "$work/url")
  "$build/cli/kaiseki" join "$url" --token-file "$state/node.token" &
  pids+=($!)
  local status=0
  timeout 60 "$work/primes/primes" "$url" "$state/author.token" || status=$?
  kill "${pids[@]}"
  wait
  return "$status"
}

lines=$(wc -l < "$root/examples/consumer/main.cc")
if [ "$lines" -lt 40 ]; then passed=$((passed + 1)); else
  echo "packaging: examples/consumer/main.cc has $lines lines, expected under 40"
  failed=$((failed + 1))
fi
cmake --install "$build" --prefix "$work/prefix" >/dev/null
try find_package "-DCMAKE_PREFIX_PATH=$work/prefix"
try add_subdirectory "-DKAISEKI_SOURCE=$root"
if try_primes; then passed=$((passed + 1)); else
  echo "packaging: examples/primes failed"
  failed=$((failed + 1))
fi
echo "checks: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
