// SPDX-License-Identifier: MIT
// gzip, with a bound on what comes out.
#include "nn/io/gzip.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  if (gunzip(bytes, 1 << 20).size() > 1 << 20) __builtin_trap();
}
