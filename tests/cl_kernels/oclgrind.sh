#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every kernel under oclgrind, which checks memory accesses, data races and API calls (its check of
# uninitialised values, in version 21.10, corrupts the vectors of correct kernels and crashes). Fails on any report, and when kernels did not run.
#   oclgrind.sh build/release/tests/cl_kernels/kernel_tests
set -u
program=${1:?"oclgrind.sh: expected the path of kernel_tests"}
# As a driver of its own rather than by the command oclgrind, whose preloaded functions other drivers would call.
driver=$(ls /usr/lib/oclgrind/liboclgrind-rt-icd.so /usr/lib/*/oclgrind/liboclgrind-rt-icd.so 2> /dev/null | head -n 1)
[ -n "$driver" ] || { echo "oclgrind.sh: expected oclgrind, got no such driver: apt-get install oclgrind" >&2; exit 1; }
export OCL_ICD_VENDORS="$driver" OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1 OCLGRIND_MAX_ERRORS=20
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$program" "--source-file=*run_test.cc" --no-intro > "$log" 2>&1
status=$?
ran=$(grep -o '[0-9]* kernels ran, in [0-9]* launches' "$log")
if [ $status -ne 0 ] || [ -z "$ran" ] || grep -qE 'Invalid (read|write)|[Dd]ata race|[Uu]ninitialized|divergence|Oclgrind|OpenCL (error|API)' "$log"; then
  cat "$log"
  echo "oclgrind.sh: expected no report and status 0, got the above and status $status" >&2
  exit 1
fi
echo "oclgrind.sh: $ran, no report"
echo "kernels: ${ran%% *}"
echo "checks: 1 passed, 0 failed"
