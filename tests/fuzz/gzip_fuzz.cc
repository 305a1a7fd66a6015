// SPDX-License-Identifier: MIT
// gzip, with a limit for the decompressed size.
#include "nn/io/gzip.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  if (gunzip(bytes, 1 << 20).size() > 1 << 20) __builtin_trap();
}
