// SPDX-License-Identifier: MIT
// Arguments and results of array operations between JavaScript and C++. Both are lists of doubles,
// which hold numbers, addresses and lengths. wasm/src/arrays_code.js is the other side.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki::wasm {

/// An argument that was not given, and has no default.
struct Missing {};
using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;
/// The values of a plain object, by name.
using Record = std::vector<std::pair<std::string_view, std::variant<double, Tensor>>>;

/// Views point into JavaScript's memory of the call.
using Value = std::variant<Missing, std::nullptr_t, bool, double, Tensor*, Random*,
                           std::string_view, ByteView, Numbers, Tensors, Record>;

/// Reads the arguments of a call.
std::vector<Value> read_values(const double* words, int count);

/// For messages: "a tensor", "the number 0.5".
std::string describe_value(const Value& value);

/// A result.
class Words {
 public:
  void number(double value) { words_.push_back(value); }
  /// Gives JavaScript a handle.
  void tensor(Tensor&& value);
  void random(Random&& value);
  /// The address and the length of bytes, which live until the next call.
  void bytes(ByteVector&& value);
  void text(std::string_view value);

  const std::vector<double>& all() const { return words_; }

 private:
  std::vector<double> words_;
};

}  // namespace kaiseki::wasm
