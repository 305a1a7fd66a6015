// SPDX-License-Identifier: MIT
// Conversions between f64 and other types.
#include "matrix/backend/operations/cast.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "matrix/backend/kernel_table.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

/// Saturates, and NaN becomes 0 (docs/arrays.md).
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>) return value != From(0);
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const auto low = static_cast<From>(std::numeric_limits<To>::min());
    const auto high = static_cast<From>(std::numeric_limits<To>::max());
    return static_cast<To>(std::clamp(value, low, high));
  }
  return static_cast<To>(value);
}

template <class To, class From>
void convert(const CastArgs& args) {
  const From* from = args.input->data<From>();
  To* to = args.output->overwrite<To>();
  for (int64_t i = 0; i < args.input->size(); ++i) to[i] = converted<To>(from[i]);
}

void cast_elements(const CastArgs& args) {
  const bool widens = args.output->dtype() == DType::f64;
  const DType other = widens ? args.input->dtype() : args.output->dtype();
  with_type(other, [&](auto zero) {
    using Other = decltype(zero);
    widens ? convert<double, Other>(args) : convert<Other, double>(args);
  });
}

}  // namespace

namespace cpu {

void add_cast(KernelTable& kernels) { kernels.add(kCast, cast_elements); }

}  // namespace cpu

}  // namespace kaiseki
