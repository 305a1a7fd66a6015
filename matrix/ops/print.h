// SPDX-License-Identifier: MIT
// Tensors as text, as NumPy prints arrays.
#pragma once

#include <iosfwd>
#include <string>

#include "matrix/tensor.h"

namespace kaiseki {

struct PrintOptions {
  int precision = 8;         // digits after the point, at most
  int64_t threshold = 1000;  // a tensor of more elements is summarized
  int64_t edge_items = 3;    // elements at both ends of an axis of a summarized tensor
  int line_width = 75;       // characters
};

/// Numbers are aligned. f32 has the fewest digits that identify it, up to the precision. Large and
/// small numbers are in scientific notation.
std::string to_string(const Tensor& x, const PrintOptions& options = {});

/// std::cout << x. An undefined tensor is printed as "undefined".
std::ostream& operator<<(std::ostream& out, const Tensor& x);

}  // namespace kaiseki
