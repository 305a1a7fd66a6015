// SPDX-License-Identifier: MIT
// The operators that can be imported, one function each.
#pragma once

#include "nn/onnx/importer.h"

namespace kaiseki::nn::onnx {

using Operator = void (*)(OnnxOp& op);
/// Returns null for an unknown type.
Operator find_operator(std::string_view type);

// The simple operators are in operators.cc only.
void import_average_pool(OnnxOp& op);
void import_batch_normalization(OnnxOp& op);
void import_add(OnnxOp& op);
void import_conv(OnnxOp& op);
void import_gemm(OnnxOp& op);
void import_matmul(OnnxOp& op);
void import_max_pool(OnnxOp& op);
void import_pad(OnnxOp& op);

void import_cast(OnnxOp& op);
void import_concat(OnnxOp& op);
void import_constant(OnnxOp& op);
void import_flatten(OnnxOp& op);
void import_gather(OnnxOp& op);
void import_reshape(OnnxOp& op);
void import_shape(OnnxOp& op);
void import_squeeze(OnnxOp& op);
void import_unsqueeze(OnnxOp& op);

}  // namespace kaiseki::nn::onnx
