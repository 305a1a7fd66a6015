#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every kernel under oclgrind, which checks memory accesses, data races, uninitialised values and
# API calls. Fails on any report, and when kernels did not run.
#   oclgrind.sh build/release/tests/cl_kernels/kernel_tests
set -u
program=${1:?"oclgrind.sh: expected the path of kernel_tests"}
command -v oclgrind > /dev/null || { echo "oclgrind.sh: expected oclgrind, got no such command: apt-get install oclgrind" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
oclgrind --check-api --data-races --uninitialized --max-errors 20 "$program" "--source-file=*run_test.cc" --no-intro > "$log" 2>&1
status=$?
ran=$(grep -o '[0-9]* kernels ran, in [0-9]* launches' "$log")
if [ $status -ne 0 ] || [ -z "$ran" ] || grep -qE 'Invalid (read|write)|[Dd]ata race|[Uu]ninitialized|divergence|Oclgrind|OpenCL (error|API)' "$log"; then
  cat "$log"
  echo "oclgrind.sh: expected no report and status 0, got the above and status $status" >&2
  exit 1
fi
echo "oclgrind.sh: $ran, no report"
