// SPDX-License-Identifier: MIT
// The binary batches of CIFAR-10.
#include "nn/data/source.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  CifarBatch batch;
  append_cifar_batch(bytes, "fuzz", batch);
  if (batch.pixels.size() != batch.labels.size() * 3072) __builtin_trap();
}
