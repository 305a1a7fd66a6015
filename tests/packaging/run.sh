#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs examples/consumer with Kaiseki in each way that a program can use: installed, pkg-config, sources, the
# unpacked Debian packages. Builds examples/primes with an installed Kaiseki, and runs it with a coordinator and a node.
# Compiles each public header alone, and checks the contents of the npm package.
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
check() {  # name, command
  if "${@:2}"; then passed=$((passed + 1)); else
    echo "packaging: $1"
    failed=$((failed + 1))
  fi
}

each_header_alone() {
  local header status=0
  while read -r header; do
    echo "#include \"$header\"" | g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -x c++ -I"$work/prefix/include/kaiseki" - || {
      echo "packaging: $header does not compile alone"
      status=1
    }
  done < <(cd "$work/prefix/include/kaiseki" && find . -name '*.h' | sed 's|^./||')
  return $status
}
only_public_headers() {
  [ -f "$work/prefix/include/kaiseki/kaiseki.h" ] && [ -f "$work/prefix/include/kaiseki/dist/net/task.h" ] &&
    [ ! -e "$work/prefix/include/kaiseki/matrix/backend/cpu" ] && [ ! -e "$work/prefix/include/kaiseki/dist/net/beast" ] &&
    [ -z "$(find "$work/prefix/include" -name 'fft_plan.h' -o -name 'http_client.cc')" ]
}
with_pkg_config() {
  local flags
  export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
  flags=$(pkg-config --cflags --libs kaiseki) || return
  # shellcheck disable=SC2086
  g++ -O1 "$root/examples/consumer/main.cc" $flags -o "$work/pc" && "$work/pc" "$root/models/lenet.json" &&
    flags=$(pkg-config --cflags --libs kaiseki-dist) && g++ -O1 "$root/examples/primes/main.cc" $flags -o "$work/pc_primes"
}
debian_packages() {
  (cd "$build" && cpack -B "$work/packages") && mkdir "$work/system" || return
  local file
  for file in "$work"/packages/*.deb; do dpkg-deb -x "$file" "$work/system" || return; done
  dpkg-deb -f "$work"/packages/kaiseki_*.deb Depends | grep -q libc6 &&
    [ "$("$work/system/usr/bin/kaiseki" --version)" = "kaiseki $(dpkg-deb -f "$work"/packages/kaiseki_*.deb Version)" ] &&
    (cd "$work" && "$work/system/usr/bin/kaiseki" summary lenet >/dev/null) &&
    dpkg-deb -f "$work"/packages/libkaiseki-dev_*.deb Depends | grep -q libhwy-dev &&
    bash -n "$work/system/usr/share/bash-completion/completions/kaiseki" &&
    grep -q pool-port "$work/system/usr/share/zsh/vendor-completions/_kaiseki" &&
    grep -q pool-port "$work/system/usr/share/fish/vendor_completions.d/kaiseki.fish" &&
    grep -q '^.TH KAISEKI 1' "$work/system/usr/share/man/man1/kaiseki.1"
}

cmake --build "$build" --target kaiseki_manual
cmake --install "$build" --prefix "$work/prefix" >/dev/null
check "internal headers are installed, or public ones are not" only_public_headers
check "a public header does not compile alone" each_header_alone
check "a program that pkg-config helps to build failed" with_pkg_config
check "the Debian packages failed" debian_packages
try debian "-DCMAKE_PREFIX_PATH=$work/system/usr"
check "cmake/release knows another version" test "$("$root/cmake/release" --version)" = "$("$build/cli/kaiseki" --version | sed 's/.* //')"
try find_package "-DCMAKE_PREFIX_PATH=$work/prefix"
try add_subdirectory "-DKAISEKI_SOURCE=$root"
if try_primes; then passed=$((passed + 1)); else
  echo "packaging: examples/primes failed"
  failed=$((failed + 1))
fi
echo "checks: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
