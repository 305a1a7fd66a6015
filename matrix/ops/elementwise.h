// SPDX-License-Identifier: MIT
// Elementwise operations with NumPy's broadcasting: named operations, and user-defined expressions.
// All tensors are on one device. docs/arrays.md describes the language and its types.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki {

using Binding = std::pair<std::string_view, std::variant<float, int32_t, Tensor>>;

/// elementwise("a*x + y", {{"a", 2.0f}, {"x", x}, {"y", y}}) returns a new tensor of the broadcast
/// shape, of the type of the expression. Throws Error for an invalid text, ShapeError for invalid
/// tensors and for an operator that lacks its operands' type.
Tensor elementwise(std::string_view expression, const std::vector<Binding>& bindings);

/// Writes the result to `out`, which must be contiguous and of the broadcast shape. `out` may be
/// one of the inputs. The result is converted to the type of `out`, which must hold its values. An
/// i32 can go into an f32 tensor, but not an f32 into an i32 tensor.
void elementwise_into(Tensor& out, std::string_view expression,
                      const std::vector<Binding>& bindings);

/// Runs statements that assign to bound tensors in place, in one pass over memory: update("v = m*v
/// - lr*g; w = w + v", ...). Assigned tensors must be contiguous and of the common shape. Each
/// right side reads the values assigned before it.
void update(std::string_view statements, const std::vector<Binding>& bindings);

/// Converts the elements. From f32 or f64 to i32 or u8, the result is the integer part. It
/// saturates, and NaN gives 0. An i32 becomes a u8 modulo 256. A bool is whether the element is not
/// 0. Returns x if it has the type already.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace kaiseki
