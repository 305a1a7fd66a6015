// SPDX-License-Identifier: MIT
// The JSON list of a file's tensors: {"name": {"dtype", "shape", ...}, ...}. It is the header of
// safetensors, with "data_offsets", and the index of a tar of tensors, with "sha256".
#pragma once

#include <cstdint>
#include <optional>
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
  uint64_t begin = 0, end = 0;             // data_offsets
  std::optional<std::string> sha256 = {};  // of the bytes, if the list of a tar has it
  uint64_t bytes() const { return static_cast<uint64_t>(shape.elements()) * dtype_size(dtype); }
};

/// Returns the tensors in the order of the text. With `offsets`, every tensor must have
/// data_offsets, and end - begin must be the number of bytes of the shape. Without, every tensor
/// may have a sha256. Throws ParseError(source, "header: NAME") for any other form.
std::vector<ListedTensor> parse_tensor_list(std::string_view text, std::string_view source,
                                            bool offsets, Metadata* metadata);

/// Writes the list. Throws Error if a name occurs twice or is not UTF-8.
std::string format_tensor_list(const std::vector<ListedTensor>& tensors, bool offsets,
                               const Metadata& metadata);

}  // namespace kaiseki::nn
