// SPDX-License-Identifier: MIT
// Element types. f32 is the type of computation. f64 serves linear algebra (Device::holds()). The
// others hold indices, pictures and masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaiseki {

enum class DType : uint8_t { f32, i32, u8, boolean, f64 };

/// Bytes of an element.
constexpr size_t dtype_size(DType t) {
  constexpr size_t sizes[] = {4, 4, 1, 1, 8};
  return sizes[static_cast<int>(t)];
}

constexpr std::string_view dtype_name(DType t) {
  constexpr std::string_view names[] = {"f32", "i32", "u8", "bool", "f64"};
  return names[static_cast<int>(t)];
}

constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64; }

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::u8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

}  // namespace kaiseki
