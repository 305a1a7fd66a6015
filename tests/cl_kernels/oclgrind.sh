#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs every kernel under oclgrind, which checks memory accesses, data races and API calls, and then
# uninitialised values. Fails on any report, and when kernels did not run.
#   oclgrind.sh build/release/tests/cl_kernels/kernel_tests
set -u
program=${1:?"oclgrind.sh: expected the path of kernel_tests"}
oclgrind=$(command -v oclgrind) || { echo "oclgrind.sh: expected oclgrind, got no such command: apt-get install oclgrind" >&2; exit 1; }
# As a driver of the usual loader: kaiseki opens libOpenCL.so.1 by name, which the command cannot replace.
OCL_ICD_VENDORS=$(dirname "$oclgrind")/../lib/oclgrind/liboclgrind-rt-icd.so
export OCL_ICD_VENDORS OCLGRIND_MAX_ERRORS=20
log=$(mktemp)
cache=$(mktemp -d)
export KAISEKI_CACHE_DIR="$cache"
trap 'rm -rf "$log" "$cache"' EXIT

# run NAME ARGUMENTS...: one pass; prints how many kernels it ran.
run() {
  name=$1
  shift
  rm -rf "$cache"  # its programs were compiled with other options
  "$program" "--source-file=*run_test.cc" --no-intro "$@" > "$log" 2>&1
  status=$?
  ran=$(grep -o '[0-9]* kernels ran, in [0-9]* launches' "$log")
  if [ $status -ne 0 ] || [ -z "$ran" ] || grep -qiE 'Invalid (read|write)|data race|uninitialized|divergence|oclgrind|OpenCL error' "$log"; then
    cat "$log"
    echo "oclgrind.sh: expected no report and status 0 of the pass for $name, got the above and status $status" >&2
    exit 1
  fi
  echo "oclgrind.sh: $name: $ran, no report"
}

OCLGRIND_CHECK_API=1 OCLGRIND_DATA_RACES=1 run "memory, races and API calls"
# Without optimisation: its check does not know LLVM's freeze, and crashes where vectors are joined.
OCLGRIND_NUM_THREADS=1 OCLGRIND_UNINITIALIZED=1 OCLGRIND_BUILD_OPTIONS=-cl-opt-disable run "uninitialised values" "--test-case-exclude=*joins vectors*"
