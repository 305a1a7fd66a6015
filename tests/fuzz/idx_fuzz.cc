// SPDX-License-Identifier: MIT
// IDX, plain or gzip-compressed.
#include "nn/io/gzip.h"
#include "nn/io/idx.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;
using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  IdxArray array = read_idx(*maybe_gzip(std::make_unique<MemorySource>(bytes), 1 << 20));
  if (static_cast<int64_t>(array.bytes.size()) != array.shape.elements()) __builtin_trap();
}
