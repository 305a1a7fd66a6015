// SPDX-License-Identifier: MIT
// The operators that are understood, one function each.
#pragma once

#include "nn/onnx/importer.h"

namespace kaiseki::nn::onnx {

using Operator = void (*)(Op& op);
/// Null for a type that is not understood.
Operator find_operator(std::string_view type);
/// All types, sorted.
std::vector<std::string> operator_types();

// operators.cc holds those of one line; these are longer.
void import_average_pool(Op& op);
void import_batch_normalization(Op& op);
void import_add(Op& op);
void import_conv(Op& op);
void import_gemm(Op& op);
void import_matmul(Op& op);
void import_max_pool(Op& op);
void import_pad(Op& op);

void import_cast(Op& op);
void import_concat(Op& op);
void import_constant(Op& op);
void import_flatten(Op& op);
void import_gather(Op& op);
void import_reshape(Op& op);
void import_shape(Op& op);
void import_squeeze(Op& op);
void import_unsqueeze(Op& op);

}  // namespace kaiseki::nn::onnx
