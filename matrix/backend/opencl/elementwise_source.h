// SPDX-License-Identifier: MIT
// The instructions of elementwise expressions as text in OpenCL C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/typed_expression.h"

namespace kaiseki::opencl {

/// The type that a value of this type is computed in.
std::string_view lane_name(DType type);

/// The functions that operation_text() calls and that OpenCL C lacks. Empty if there are none.
std::string_view elementwise_functions(const std::vector<TypedInstruction>& program);

/// The right side of an instruction. Value i is named vi, input i xi, scalar i si.
std::string operation_text(const std::vector<TypedInstruction>& program,
                           const TypedInstruction& in);

}  // namespace kaiseki::opencl
