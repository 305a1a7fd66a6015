// SPDX-License-Identifier: MIT
// The checks of samples, targets and labels that all estimators share. `name` is the name of the
// estimator or function, for the message. All throw ShapeError.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "matrix/tensor.h"

namespace kaiseki::ml {

/// Requires that all elements of x (f32, not empty) are finite. `what` is its name in the message.
void check_finite(const Tensor& x, std::string_view what, std::string_view name);

/// Requires f32 [n, features] with at least one sample and one feature, without NaN and infinity.
void check_samples(const Tensor& x, std::string_view name);
/// The same, and requires this number of features, which fit() has seen.
void check_samples(const Tensor& x, int64_t features, std::string_view name);

/// Requires f32 [n] or [n, outputs] for the n samples of x, without NaN and infinity.
void check_targets(const Tensor& y, const Tensor& x, std::string_view name);

/// Requires i32 [n] for n samples. Returns the labels.
std::vector<int32_t> read_labels(const Tensor& y, int64_t samples, std::string_view name);

/// Requires that fit() has run.
inline void check_fitted(bool fitted, std::string_view name) {
  require(fitted, name, "expected a fitted model, call fit() first");
}

/// The tensor on the CPU, contiguous. A tensor on another device is copied.
inline Tensor on_host(const Tensor& x) { return x.to(Device::cpu()).contiguous(); }

/// The labels as numbers: labels[i] = classes[codes[i]]. The classes ascend.
struct LabelCodes {
  std::vector<int32_t> classes;
  std::vector<int32_t> codes;
};
LabelCodes encode_labels(const std::vector<int32_t>& labels);
/// The same with given classes, which ascend. Another label throws ShapeError.
std::vector<int32_t> encode_labels(const std::vector<int32_t>& labels,
                                   const std::vector<int32_t>& classes, std::string_view name);

/// i32 [n]: classes[codes[i]], on that device.
Tensor decode_labels(const std::vector<int32_t>& codes, const std::vector<int32_t>& classes,
                     Device device);

/// A vector as a tensor: f32 [n], i32 [n], or of another shape.
Tensor tensor_from(const std::vector<double>& values, const Shape& shape, Device device);
Tensor tensor_from(const std::vector<int32_t>& values, Device device);

}  // namespace kaiseki::ml
