#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the sources of the library and of the command with clang-tidy. .clang-tidy lists the checks. The build folder must
# be configured with KAISEKI_UNITY=ON, so that a header is read only a few times. Usage: tidy.sh BUILD_FOLDER
set -euo pipefail
cd "$(dirname "$0")/../../.."
mapfile -t sources < <(python3 - "$1" <<'END'
import json, os, sys
folder = os.path.realpath(sys.argv[1])
files = {command["file"] for command in json.load(open(f"{folder}/compile_commands.json"))}
print("\n".join(sorted(file for file in files if f"{folder}/tests/" not in file and os.path.exists(file)
                       and not file.startswith(os.path.realpath("tests")))))
END
)
[ ${#sources[@]} -ge 50 ] || { echo "tidy.sh: expected 50 sources or more in $1, got ${#sources[@]}" >&2; exit 1; }
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$1" --header-filter="^$PWD/" --quiet 2>/dev/null
echo "clang-tidy: ${#sources[@]} sources, no problem found"
