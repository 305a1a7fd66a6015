// SPDX-License-Identifier: MIT
// Sushi's matrices in JSON. A matrix that was read must be readable again after writing.
#include "nn/io/matrix_json.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  const kaiseki::Tensor value = parse_matrix_json(kaiseki::as_text(bytes));
  if (parse_matrix_json(format_matrix_json(value)).shape() != value.shape()) __builtin_trap();
}
