// SPDX-License-Identifier: MIT
#include "wasm/bindings/arrays/argument.h"

namespace kaiseki::wasm {

std::optional<Tensors> Argument<std::span<const Tensor>>::read(const Value& value) {
  // JavaScript cannot tell an empty list of tensors from one of numbers.
  const auto* numbers = std::get_if<Numbers>(&value);
  if (numbers && numbers->empty()) return Tensors();
  return held<Tensors>(value);
}

std::optional<Lazy> Argument<Lazy>::read(const Value& value) {
  if (Tensor* const* tensor = std::get_if<Tensor*>(&value)) return Lazy(**tensor);
  const double* number = std::get_if<double>(&value);
  if (!number) return {};
  const std::optional<int64_t> integer = integer_of<int64_t>(*number);
  const bool negative_zero = *number == 0 && std::signbit(*number);
  return integer && !negative_zero ? Lazy(*integer) : Lazy(*number);
}

}  // namespace kaiseki::wasm
