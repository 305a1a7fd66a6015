#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every kernel under oclgrind, which checks memory accesses, data races and API calls. Fails on any report, and if
# no kernels ran. The check of uninitialized values is off: in oclgrind 21.10 it crashes in conv_direct and reports
# reduce_column for unknown reasons.
#   oclgrind.sh build/release/tests/cl_kernels/kernel_tests
set -u
program=${1:?"oclgrind.sh: expected the path of kernel_tests"}
oclgrind=$(command -v oclgrind) || { echo "oclgrind.sh: expected oclgrind, got no such command: apt-get install oclgrind" >&2; exit 1; }
# Runs oclgrind as a driver of the system's loader. kaiseki opens libOpenCL.so.1 by name, so the command `oclgrind`
# cannot replace that library.
OCL_ICD_VENDORS=$(dirname "$oclgrind")/../lib/oclgrind/liboclgrind-rt-icd.so
export OCL_ICD_VENDORS OCLGRIND_MAX_ERRORS=20
export OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$program" "--source-file=*run_test.cc" --no-intro > "$log" 2>&1
status=$?
ran=$(grep -o '[0-9]* kernels ran, in [0-9]* launches' "$log")
if [ $status -ne 0 ] || [ -z "$ran" ] || grep -qiE 'Invalid (read|write)|data race|divergence|oclgrind|OpenCL error' "$log"; then
  tail -n 60 "$log"
  echo "oclgrind.sh: expected no report and status 0, got the above and status $status" >&2
  exit 1
fi
echo "oclgrind.sh: $ran, no report"
echo "kernels: ${ran%% *}"
echo "checks: 1 passed, 0 failed"
