// SPDX-License-Identifier: MIT
// Class labels: any integers, numbered in ascending order.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

struct ClassLabels {
  std::vector<int32_t> classes;  // sorted, without repetition
  std::vector<int32_t> numbers;  // [n]: the position in `classes` of each sample's label
};

/// Reads y, i32 [samples]. Throws ShapeError for another type or shape.
ClassLabels read_labels(const Tensor& y, int64_t samples, std::string_view name);
/// The same with given classes. Throws Error for a label that is not one of them.
ClassLabels read_labels(const Tensor& y, int64_t samples, std::vector<int32_t> classes,
                        std::string_view name);

/// The label of each number: i32, with the shape of `numbers` (i32).
Tensor labels_of(const std::vector<int32_t>& classes, const Tensor& numbers);

/// The fraction of samples for which both i32 tensors agree.
double accuracy_of(const Tensor& predicted, const Tensor& y, std::string_view name);

}  // namespace kaiseki::ml
