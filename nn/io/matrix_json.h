// SPDX-License-Identifier: MIT
// Sushi's matrices as JSON: {"rows": 2, "cols": 3, "data": "...", "row_wise": true}. `data` is
// Base64 of the float32 elements, little-endian. If `row_wise` is false, they are stored by
// columns.
#pragma once

#include <string>
#include <string_view>

#include "matrix/tensor.h"

namespace kaiseki::nn {

/// f32 [rows, columns], on the CPU. Throws ParseError.
Tensor parse_matrix_json(std::string_view text, std::string_view source = "memory");
/// The text of a matrix, by rows. Throws ShapeError if it is not f32 of rank 2.
std::string format_matrix_json(const Tensor& matrix);

}  // namespace kaiseki::nn
