// SPDX-License-Identifier: MIT
// The JSON that lists a file's tensors: {"name": {"dtype", "shape", "data_offsets"}, ...}, the
// header of safetensors and the index of a tar of tensors. The only reader of JSON here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/dtype.h"
#include "matrix/shape.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn {

struct ListedTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0, end = 0;  // data_offsets
  uint64_t bytes() const { return static_cast<uint64_t>(shape.elements()) * dtype_size(dtype); }
};

/// In the order of the text. With `offsets`, data_offsets must be there, and end - begin must be
/// the bytes of the shape. Nothing but this form is let through. Throws ParseError(source, "header:
/// NAME").
std::vector<ListedTensor> parse_tensor_list(std::string_view text, std::string_view source,
                                            bool offsets, Metadata* metadata);

/// The same text again. Throws Error on a name that is used twice or is not UTF-8.
std::string format_tensor_list(const std::vector<ListedTensor>& tensors, bool offsets,
                               const Metadata& metadata);

}  // namespace kaiseki::nn
