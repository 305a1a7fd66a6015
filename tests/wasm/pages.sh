#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the C++ tests of a build folder in the browsers, in the project that package.sh made: pages.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD build=$(realpath "$1")
cp tests/wasm/pages.js "$build/project"
cd "$build/project"
exec node pages.js "$build/pages" "$root"
