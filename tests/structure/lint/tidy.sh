#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the sources of the library and of the command with clang-tidy. .clang-tidy lists the checks. The build folder must
# be configured with KAISEKI_UNITY=ON, so that a header is read only a few times. Usage: tidy.sh BUILD_FOLDER
# A source that passed is not checked again until a byte of it, of its headers, or of the checks changes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
exec python3 tests/structure/lint/tidy.py "$1" "${CCACHE_DIR:-build}/clang-tidy"
