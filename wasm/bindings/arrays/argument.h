// SPDX-License-Identifier: MIT
// How the type of a C++ parameter reads an argument. Argument<T>::type is its type in TypeScript,
// and read() returns nothing if the argument has another type.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "base/text.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/ops/lazy.h"
#include "wasm/bindings/arrays/value.h"

namespace kaiseki::wasm {

/// A double that is an integer of type T, if a double holds it exactly.
template <class T>
std::optional<T> integer_of(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const double limit = sizeof(T) == 4 ? 2147483648.0 : kExact;
  if (!(value >= -limit && value < limit) || value != std::trunc(value)) return {};
  return static_cast<T>(value);
}

/// A list of integers.
template <class T>
std::optional<std::vector<T>> integers_of(const Value& value) {
  const auto* numbers = std::get_if<Numbers>(&value);
  if (!numbers) return {};
  std::vector<T> integers;
  for (double number : *numbers) {
    const std::optional<T> integer = integer_of<T>(number);
    if (!integer) return {};
    integers.push_back(*integer);
  }
  return integers;
}

template <class T>
std::optional<T> held(const Value& value) {
  if (const T* found = std::get_if<T>(&value)) return *found;
  return {};
}

/// `Held` keeps the argument during the call.
template <class T>
struct Argument;

template <class T>
struct IntegerArgument {
  using Held = T;
  static constexpr std::string_view type = "number", expected = "an integer";
  static std::optional<T> read(const Value& value) {
    const double* number = std::get_if<double>(&value);
    return number ? integer_of<T>(*number) : std::nullopt;
  }
};
template <>
struct Argument<int> : IntegerArgument<int> {};
template <>
struct Argument<int64_t> : IntegerArgument<int64_t> {};

template <>
struct Argument<double> {
  using Held = double;
  static constexpr std::string_view type = "number", expected = "a number";
  static std::optional<double> read(const Value& value) { return held<double>(value); }
};
template <>
struct Argument<float> : Argument<double> {};

template <>
struct Argument<bool> {
  using Held = bool;
  static constexpr std::string_view type = "boolean", expected = "true or false";
  static std::optional<bool> read(const Value& value) { return held<bool>(value); }
};

template <>
struct Argument<std::string_view> {
  using Held = std::string_view;
  static constexpr std::string_view type = "string", expected = "a text";
  static std::optional<Held> read(const Value& value) { return held<Held>(value); }
};

template <>
struct Argument<ByteView> {
  using Held = ByteView;
  static constexpr std::string_view type = "Uint8Array", expected = "a Uint8Array";
  static std::optional<ByteView> read(const Value& value) { return held<ByteView>(value); }
};

/// The address of JavaScript's own object, so that functions can change it.
template <class T>
struct HandleArgument {
  using Held = T*;
  static std::optional<T*> read(const Value& value) { return held<T*>(value); }
};
template <>
struct Argument<Tensor> : HandleArgument<Tensor> {
  static constexpr std::string_view type = "Tensor", expected = "a tensor";
};
template <>
struct Argument<Random> : HandleArgument<Random> {
  static constexpr std::string_view type = "Random", expected = "a generator of random()";
};

/// One of the types of a variant, which holds no references.
template <>
struct Argument<Tensor*> : Argument<Tensor> {};

/// A tensor or null.
template <>
struct Argument<const Tensor*> {
  using Held = const Tensor*;
  static constexpr std::string_view type = "Tensor | null", expected = "a tensor or null";
  static std::optional<const Tensor*> read(const Value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return nullptr;
    return held<Tensor*>(value);
  }
};

template <class T>
struct IntegersArgument {
  using Held = std::vector<T>;
  static constexpr std::string_view type = "Integers", expected = "a list of integers";
  static std::optional<Held> read(const Value& value) { return integers_of<T>(value); }
};
template <>
struct Argument<std::vector<int>> : IntegersArgument<int> {};
template <>
struct Argument<std::span<const int>> : IntegersArgument<int> {};
template <>
struct Argument<std::vector<int64_t>> : IntegersArgument<int64_t> {};

template <>
struct Argument<Shape> {
  using Held = Shape;
  static constexpr std::string_view type = "Integers", expected = "a list of at most 8 integers";
  static std::optional<Shape> read(const Value& value) {
    const auto integers = integers_of<int64_t>(value);
    if (!integers || integers->size() > Shape::kMaxRank) return {};
    return Shape(std::span<const int64_t>(*integers));
  }
};

/// Two integers: the height and the width of something.
template <>
struct Argument<std::array<int64_t, 2>> {
  using Held = std::array<int64_t, 2>;
  static constexpr std::string_view type = "Integers", expected = "a list of two 32-bit integers";
  static std::optional<Held> read(const Value& value) {
    const auto integers = integers_of<int>(value);
    if (!integers || integers->size() != 2) return {};
    return Held{(*integers)[0], (*integers)[1]};
  }
};

template <>
struct Argument<std::span<const float>> {
  using Held = std::vector<float>;
  static constexpr std::string_view type = "readonly number[]", expected = "a list of numbers";
  static std::optional<Held> read(const Value& value) {
    const auto* numbers = std::get_if<Numbers>(&value);
    if (!numbers) return {};
    Held floats;
    for (double number : *numbers) floats.push_back(static_cast<float>(number));
    return floats;
  }
};

template <>
struct Argument<std::span<const Tensor>> {
  using Held = Tensors;
  static constexpr std::string_view type = "readonly Tensor[]", expected = "a list of tensors";
  static std::optional<Tensors> read(const Value& value);
};

/// The operand of an operator: a tensor or a number. An integer is an i32, as in C++.
template <>
struct Argument<Lazy> {
  using Held = Lazy;
  static constexpr std::string_view type = "Tensor | number", expected = "a tensor or a number";
  static std::optional<Lazy> read(const Value& value);
};

template <>
struct Argument<Record> {
  using Held = Record;
  static constexpr std::string_view type = "Record<string, Tensor | number>",
                                    expected = "an object of tensors and numbers";
  static std::optional<Record> read(const Value& value) { return held<Record>(value); }
};

/// A position of `kNames<T>` for each value of an enumeration.
template <class T>
inline constexpr int kNames = 0;
template <>
inline constexpr std::array<std::string_view, 5> kNames<DType>{"f32", "i32", "u8", "bool", "f64"};
template <>
inline constexpr std::array<std::string_view, 8> kNames<Reduction>{
    "sum", "mean", "max", "min", "sum_of_squares", "prod", "any", "all"};

/// "'thin' | 'full'"
template <class List>
std::string alternatives(const List& names) {
  std::string text;
  for (std::string_view name : names) text += text_from(text.empty() ? "'" : " | '", name, '\'');
  return text;
}

template <class T>
requires std::is_enum_v<T>
struct Argument<T> {
  using Held = T;
  static inline const std::string type = alternatives(kNames<T>), expected = type;
  static std::optional<T> read(const Value& value) {
    if (const auto* text = std::get_if<std::string_view>(&value))
      for (size_t i = 0; i < kNames<T>.size(); ++i)
        if (kNames<T>[i] == *text) return static_cast<T>(i);
    return {};
  }
};

/// One of two types.
template <class A, class B>
struct Argument<std::variant<A, B>> {
  using Held = std::variant<typename Argument<A>::Held, typename Argument<B>::Held>;
  static inline const std::string type = text_from(Argument<A>::type, " | ", Argument<B>::type),
                                  expected = text_from(Argument<A>::expected, " or ",
                                                       Argument<B>::expected);
  static std::optional<Held> read(const Value& value) {
    if (auto a = Argument<A>::read(value)) return Held(std::in_place_index<0>, std::move(*a));
    if (auto b = Argument<B>::read(value)) return Held(std::in_place_index<1>, std::move(*b));
    return {};
  }
};

template <class T>
struct Argument<std::optional<T>> {
  using Held = std::optional<T>;
  static inline const std::string type = text_from(Argument<T>::type, " | null"),
                                  expected = text_from(Argument<T>::expected, " or null");
  static std::optional<Held> read(const Value& value) {
    if (std::holds_alternative<std::nullptr_t>(value)) return Held();
    if (auto found = Argument<T>::read(value)) return Held(std::move(*found));
    return {};
  }
};

}  // namespace kaiseki::wasm
