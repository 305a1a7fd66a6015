// SPDX-License-Identifier: MIT
// Archive: names the settings of an estimator, or its fitted state, for files and for the command
// line.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json.h"
#include "matrix/tensor.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::ml {

/// One function names each value once. With an Archive that writes, the values are collected. With
/// one that reads, they are set.
///
///   void describe(Archive& archive, RidgeOptions& o) {
///     archive("alpha", o.alpha);
///     archive("fit_intercept", o.fit_intercept);
///   }
class Archive {
 public:
  /// Writes. Throws Error for a number that is NaN or infinite.
  Archive() = default;
  /// Reads. `place` is the name of a file or an option, for errors. Throws ParseError for a value
  /// of another type. If `complete` is set, also for a value that is missing. Otherwise, a missing
  /// value leaves the variable as it is.
  Archive(Json values, std::vector<nn::NamedTensor> tensors, std::string place, bool complete);

  void operator()(std::string_view name, bool& value);
  void operator()(std::string_view name, int64_t& value);
  void operator()(std::string_view name, uint64_t& value);
  void operator()(std::string_view name, double& value);
  void operator()(std::string_view name, std::string& value);
  void operator()(std::string_view name, std::optional<int64_t>& value);  // none: null
  void operator()(std::string_view name, std::vector<std::string>& value);
  void operator()(std::string_view name, Json& value);  // any value
  // As tensors: f64 [n], i32 [n], and any tensor, also an undefined one.
  void operator()(std::string_view name, std::vector<double>& value);
  void operator()(std::string_view name, std::vector<float>& value);
  void operator()(std::string_view name, std::vector<int32_t>& value);
  void operator()(std::string_view name, Tensor& value);
  /// The enumerator number i has the name names[i].
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(std::string_view name, Enum& value,
                  std::initializer_list<std::string_view> names) {
    auto index = static_cast<int64_t>(value);
    choice(name, index, names);
    value = static_cast<Enum>(index);
  }

  bool reads() const { return reads_; }
  /// The values that were written. If it reads: all values that it was given.
  const Json& values() const { return values_; }
  const std::vector<nn::NamedTensor>& tensors() const { return tensors_; }
  /// The names that were asked for.
  const std::vector<std::string>& names() const { return names_; }
  /// If it reads: throws ParseError for a name that no call has asked for.
  void expect_all_read() const;
  /// Throws ParseError about a value.
  [[noreturn]] void fail(std::string_view name, const std::string& what) const;

 private:
  const Json* read(std::string_view name);
  Tensor read_tensor(std::string_view name, std::optional<DType> type);
  void write(std::string_view name, Json value);
  void choice(std::string_view name, int64_t& index, std::initializer_list<std::string_view> names);

  Json values_ = Json::object();
  std::vector<nn::NamedTensor> tensors_;
  std::string place_;
  bool reads_ = false, complete_ = false;
  std::vector<std::string> names_;
};

}  // namespace kaiseki::ml
