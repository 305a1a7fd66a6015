// SPDX-License-Identifier: MIT
// CSV. A matrix that was read must be readable again after writing.
#include "nn/io/csv.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  const kaiseki::Tensor value = parse_csv(kaiseki::as_text(bytes));
  if (parse_csv(format_csv(value)).shape() != value.shape()) __builtin_trap();
}
