#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs examples/consumer with Kaiseki in each way that a program can use. The ways are: installed,
# pkg-config, sources, and the Debian packages in an empty root. Builds examples/primes with an installed Kaiseki and
# with the packages, and runs it with a coordinator and a node. Builds and runs examples/two_processes and
# examples/cluster. Compiles each public header alone.
# Usage: tests/packaging/run.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
passed=0 failed=0

try() {  # name, build folder, cmake options
  local name=$1 folder=$2; shift 2
  if cmake -S "$root/examples/consumer" -B "$folder" "${options[@]}" "$@" &&
     cmake --build "$folder" --target consumer && "$folder/consumer" "$root/models/lenet.json"; then
    passed=$((passed + 1))
  else
    echo "packaging: the consumer failed with $name"
    failed=$((failed + 1))
  fi
}

try_primes() {
  local state=$work/state url
  cmake -S "$root/examples/primes" -B "$work/debian_primes" "${options[@]}" "-DCMAKE_PREFIX_PATH=$work/system/usr" &&
    cmake --build "$work/debian_primes" || return
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

try_two_processes() {
  cmake -S "$root/examples/two_processes" -B "$work/two_processes" "${options[@]}" "-DCMAKE_PREFIX_PATH=$work/prefix" &&
    cmake --build "$work/two_processes" && "$work/two_processes/two_processes" "$root/models/lenet.json"
}

try_cluster() {
  if [ ! -f "$work/prefix/lib/pkgconfig/kaiseki-cluster.pc" ] || ! command -v mpirun >/dev/null; then
    echo "SKIPPED: examples/cluster, without MPI"
    return 0
  fi
  cmake -S "$root/examples/cluster" -B "$work/cluster" "${options[@]}" "-DCMAKE_PREFIX_PATH=$work/prefix" &&
    cmake --build "$work/cluster" &&
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 \
      mpirun -n 2 --oversubscribe --bind-to none "$work/cluster/cluster" "$root/models/lenet.json" || return
  local flags
  flags=$(PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig pkg-config --cflags --libs kaiseki-cluster) || return
  # shellcheck disable=SC2086
  g++ -std=c++20 -O1 "$root/examples/cluster/main.cc" $flags -o "$work/pc_cluster" && "$work/pc_cluster" "$root/models/lenet.json"
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
  (cd "$work/prefix/include/kaiseki" && find . -name '*.h' -printf '%P\n') | xargs -P "$(nproc)" -I{} bash -c \
    'echo "#include \"$1\"" | g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -x c++ "-I$2" - ||
      { echo "packaging: $1 does not compile alone"; exit 1; }' bash {} "$work/prefix/include/kaiseki"
}
only_public_headers() {
  [ -f "$work/prefix/include/kaiseki/kaiseki.h" ] && [ -f "$work/prefix/include/kaiseki/dist/net/task.h" ] &&
    [ ! -e "$work/prefix/include/kaiseki/matrix/backend/cpu" ] && [ ! -e "$work/prefix/include/kaiseki/dist/net/beast" ] &&
    [ -z "$(find "$work/prefix/include" -name 'fft_plan.h' -o -name 'http_client.cc')" ]
}
# The headers of Kaiseki that the pages include, and those in the tables of docs/cpp.md.
documented_headers() {
  local header status=0
  while read -r header; do
    [ -f "$work/prefix/include/kaiseki/$header" ] || { echo "packaging: the pages have $header, which is not installed"; status=1; }
  done < <(cd "$root" && { grep -hoE '#include <[^>]*\.h>' README.md docs/*.md docs/guides/*.md | tr -d '<>' | cut -d ' ' -f 2
    grep '^|' docs/cpp.md docs/guides/embed.md | grep -o '`[a-z_/]*\.h`' | tr -d '`'; } | grep -vE '^(sys|hwy)/' | sort -u)
  return $status
}
components() {
  local name=$work/components part
  mkdir "$name"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(components LANGUAGES CXX)' \
    'find_package(kaiseki REQUIRED COMPONENTS ${PART})' \
    'if(PART AND NOT TARGET kaiseki::${PART})' 'message(FATAL_ERROR "no target")' 'endif()' >"$name/CMakeLists.txt"
  for part in '' matrix nn ml cluster dist dist_train net; do
    cmake -S "$name" -B "$name/build" "-DPART=$part" "-DCMAKE_PREFIX_PATH=$work/prefix" >/dev/null || return
  done
  ! cmake -S "$name" -B "$name/build" -DPART=unknown "-DCMAKE_PREFIX_PATH=$work/prefix" >/dev/null 2>&1
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
  local database=$work/system/var/lib/dpkg
  (cd "$build" && cpack -B "$work/packages") && mkdir -p "$database/info" "$database/updates" && touch "$database/status" || return
  # The empty root has none of the packages that these depend on.
  dpkg --root="$work/system" --log="$work/dpkg.log" --force-depends --force-not-root --force-script-chrootless --force-bad-path \
    -i "$work"/packages/*.deb >/dev/null 2>&1 || return
  [ "$(dpkg-query --admindir="$database" -W -f='${db:Status-Status} ${Package}\n' | sort | tr '\n' ' ')" = "installed kaiseki installed libkaiseki-dev " ] || return
  dpkg-deb -f "$work"/packages/kaiseki_*.deb Depends | grep libc6 >/dev/null &&
    [ "$("$work/system/usr/bin/kaiseki" --version)" = "kaiseki $(dpkg-deb -f "$work"/packages/kaiseki_*.deb Version)" ] &&
    (cd "$work" && "$work/system/usr/bin/kaiseki" summary lenet >/dev/null) &&
    dpkg-deb -f "$work"/packages/libkaiseki-dev_*.deb Depends | grep libhwy-dev >/dev/null &&
    bash -n "$work/system/usr/share/bash-completion/completions/kaiseki" &&
    grep -q pool-port "$work/system/usr/share/zsh/vendor-completions/_kaiseki" &&
    grep -q pool-port "$work/system/usr/share/fish/vendor_completions.d/kaiseki.fish" &&
    grep -q '^.TH KAISEKI 1' "$work/system/usr/share/man/man1/kaiseki.1"
}

cmake --build "$build" --target kaiseki_manual
cmake --install "$build" --prefix "$work/prefix" >/dev/null
check "internal headers are installed, or public ones are not" only_public_headers
check "a public header does not compile alone" each_header_alone
check "a documented header is not installed" documented_headers
check "find_package does not know its components" components
check "a program that pkg-config helps to build failed" with_pkg_config
check "the Debian packages failed" debian_packages
try debian "$work/debian" "-DCMAKE_PREFIX_PATH=$work/system/usr"
check "cmake/release knows another version" test "$("$root/cmake/release" --version)" = "$("$build/cli/kaiseki" --version | sed 's/.* //')"
try find_package "$work/find_package" "-DCMAKE_PREFIX_PATH=$work/prefix"
# As deep as build/release and with its options, so that the compiler cache has the objects.
rm -rf "$root/build/consumer"
try add_subdirectory "$root/build/consumer" "-DKAISEKI_SOURCE=$root" -DKAISEKI_WERROR=ON
check "examples/two_processes failed" try_two_processes
check "examples/cluster failed" try_cluster
if try_primes; then passed=$((passed + 1)); else
  echo "packaging: examples/primes failed"
  failed=$((failed + 1))
fi
echo "checks: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
