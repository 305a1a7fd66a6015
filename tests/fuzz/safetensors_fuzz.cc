// SPDX-License-Identifier: MIT
// safetensors. Tensors that were read must be readable again after writing.
#include "nn/io/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  Metadata metadata;
  auto tensors = read_safetensors(bytes, &metadata);
  auto again = read_safetensors(encode_safetensors(tensors, metadata));
  if (again.size() != tensors.size()) __builtin_trap();
}
