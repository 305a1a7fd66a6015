// SPDX-License-Identifier: MIT
// Elementwise operations with NumPy's broadcasting: named operations, and user-defined expressions.
// All tensors are f32 on one device.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki {

using Binding = std::pair<std::string_view, std::variant<float, Tensor>>;

/// elementwise("a*x + y", {{"a", 2.0f}, {"x", x}, {"y", y}}) returns a new tensor of the broadcast
/// shape. matrix/expression.h describes the language. Throws Error for an invalid text, ShapeError
/// for invalid tensors.
Tensor elementwise(std::string_view expression, const std::vector<Binding>& bindings);

/// Writes the result to `out`, which must be contiguous and of the broadcast shape. `out` may be
/// one of the inputs.
void elementwise_into(Tensor& out, std::string_view expression,
                      const std::vector<Binding>& bindings);

/// Runs statements that assign to bound tensors in place, in one pass over memory: update("v = m*v
/// - lr*g; w = w + v", ...). Assigned tensors must be contiguous and of the common shape. Each
/// right side reads the values assigned before it.
void update(std::string_view statements, const std::vector<Binding>& bindings);

Tensor add(const Tensor& a, const Tensor& b);
Tensor subtract(const Tensor& a, const Tensor& b);
Tensor multiply(const Tensor& a, const Tensor& b);
Tensor divide(const Tensor& a, const Tensor& b);

}  // namespace kaiseki
