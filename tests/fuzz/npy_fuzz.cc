// SPDX-License-Identifier: MIT
// npy. An array that was read must be readable again after writing.
#include "nn/io/npy.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  kaiseki::Tensor value = read_npy(bytes);
  if (read_npy(encode_npy(value)).shape() != value.shape()) __builtin_trap();
}
