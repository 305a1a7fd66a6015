// SPDX-License-Identifier: MIT
// Factorizations of one large f32 matrix on its device. Blocks of columns are factored in host
// memory, and matrix products run on the device. The source is Tomov, Dongarra and Baboulin,
// "Towards dense linear algebra for hybrid GPU accelerated manycore systems", 2010.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "matrix/has_devices.h"
#include "matrix/linalg/batch.h"
#include "matrix/linalg/factor_lu.h"
#include "matrix/tensor.h"

namespace kaiseki::linalg {

/// Smaller matrices take less time on the CPU.
inline constexpr int64_t kDeviceSize = 1024;

/// Calls check_matrices(). Returns whether a is one f32 matrix on a device other than the CPU. It
/// must have kDeviceSize rows and columns or more. Always inline, so that WebAssembly leaves out
/// the calls after it.
[[gnu::always_inline]] inline bool factors_on_device(const Tensor& a, std::string_view name) {
  check_matrices(a, name);
  return kHasDevices && !a.device().is_cpu() && a.rank() == 2 && a.dtype() == DType::f32 &&
         std::min(a.dim(0), a.dim(1)) >= kDeviceSize;
}
/// Throws LinearAlgebraError for NaN and infinity.
void check_finite_on_device(const Tensor& a, std::string_view name);

/// The factors of factor_lu(), on the device of a: [m, n].
struct DeviceLu {
  Tensor packed;
  LuPivots pivots;
};
DeviceLu lu_on_device(const Tensor& a);
/// Returns a^-1 b for b [n, r]. No pivot may be 0.
Tensor solve_on_device(const DeviceLu& lu, const Tensor& b);

/// The lower triangular factor, or the first pivot that is not positive.
struct DeviceCholesky {
  struct Pivot {
    int64_t column;
    float value;
  };
  Tensor l;
  std::optional<Pivot> failed;
};
DeviceCholesky cholesky_on_device(const Tensor& a);

/// a = q r, where q has k columns: m, or min(m, n) for a [m, n].
struct DeviceQr {
  Tensor q, r;
};
DeviceQr qr_on_device(const Tensor& a, int64_t k);

}  // namespace kaiseki::linalg
