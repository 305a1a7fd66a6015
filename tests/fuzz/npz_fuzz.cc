// SPDX-License-Identifier: MIT
// npz. Arrays that were read must be readable again after writing, if their names differ.
#include "nn/io/npz.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  const std::vector<NamedTensor> arrays = read_npz(bytes);
  if (read_npz(encode_npz(arrays, true)).size() != arrays.size()) __builtin_trap();
}
