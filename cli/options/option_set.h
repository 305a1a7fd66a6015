// SPDX-License-Identifier: MIT
// OptionSet: declares the options of one command. Only option_set.cc and parse.cc include
// CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kaiseki::cli {

/// A value that an option does not accept. The message names the option.
class OptionError : public Error {
 public:
  using Error::Error;
};

/// The limits of a whole number.
struct Whole {
  int64_t least = 0, most = 1'000'000'000;
};
constexpr Whole kPositive{1};
constexpr Whole kBatchSize{1, 1 << 24};

/// The limits of a number.
struct Real {
  double least = 0, most = 1e38;
  bool above_least = false, below_most = false;  // the limit itself is not accepted
};
constexpr Real kAboveZero{.above_least = true};
constexpr Real kAnyNumber{.least = -1e38};

/// An option that was added.
struct AddedOption {
  CLI::Option* option;
  AddedOption& required();
  AddedOption& needs(const AddedOption& other);
};

/// The options of a command, or a group of them in its help. Each function adds one option. It
/// keeps a reference to `value`. The help shows the value that it has now as the default, unless it
/// is 0 or empty. `type` stands for the value in the help.
class OptionSet {
 public:
  explicit OptionSet(CLI::App& app) : app_(&app) {}

  OptionSet group(const char* name);
  /// The options that are added after this call need `option`.
  void all_need(const AddedOption& option) { needed_ = option.option; }

  AddedOption flag(const char* name, bool& value, const char* help);
  /// Text that is not empty.
  AddedOption text(const char* name, const char* type, std::string& value, const char* help);
  AddedOption texts(const char* name, const char* type, std::vector<std::string>& values,
                    const char* help);
  /// `earlier` is accepted too and is not shown: {earlier name, name of the choice}.
  template <class Text>
  AddedOption choice(const char* name, Text& value, const std::vector<std::string>& choices,
                     const char* help, const std::pair<std::string, std::string>& earlier = {}) {
    return add_choice(
        name,
        [&value, earlier](const std::string& given) {
          value = given == earlier.first ? earlier.second : given;
        },
        shown(value), choices, earlier.first, help);
  }
  /// Text that `is_valid` accepts. `expected` describes it in the error.
  template <class Text>
  AddedOption checked_text(const char* name, const char* type, Text& value,
                           std::string_view expected, bool (*is_valid)(std::string_view),
                           const char* help) {
    return add_checked(
        name, type, [&value](const std::string& given) { value = given; }, shown(value), expected,
        is_valid, help);
  }
  AddedOption seed(const char* name, uint64_t& value, const char* help);
  /// Numbers, joined by commas.
  AddedOption reals(const char* name, std::vector<float>& values, Real limits, const char* help);

  template <class Number>
  AddedOption whole(const char* name, Number& value, Whole limits, const char* help) {
    return add_whole(
        name, limits, [&value](int64_t given) { value = static_cast<IntOf<Number>>(given); },
        shown(value), help);
  }
  template <class Number>
  AddedOption real(const char* name, Number& value, Real limits, const char* help) {
    return add_real(
        name, limits, [&value](double given) { value = given; }, shown(value), help);
  }

 private:
  template <class Number>
  struct Inner {
    using type = Number;
  };
  template <class Number>
  struct Inner<std::optional<Number>> {
    using type = Number;
  };
  template <class Number>
  using IntOf = typename Inner<Number>::type;

  static std::string shown(int64_t value) { return value ? std::to_string(value) : ""; }
  static std::string shown(int value) { return shown(int64_t{value}); }
  static std::string shown(double value);
  static std::string shown(const std::string& value) { return value; }
  template <class Number>
  static std::string shown(const std::optional<Number>&) {
    return "";
  }

  AddedOption add(const char* name, const std::string& type, const std::string& shown,
                  const char* help, std::function<void(const std::string&)> take, bool many);
  AddedOption add_choice(const char* name, std::function<void(const std::string&)> set,
                         const std::string& shown, std::vector<std::string> choices,
                         const std::string& earlier, const char* help);
  AddedOption add_checked(const char* name, const char* type,
                          std::function<void(const std::string&)> set, const std::string& shown,
                          std::string_view expected, bool (*is_valid)(std::string_view),
                          const char* help);
  AddedOption add_whole(const char* name, Whole limits, std::function<void(int64_t)> set,
                        const std::string& shown, const char* help);
  AddedOption add_real(const char* name, Real limits, std::function<void(double)> set,
                       const std::string& shown, const char* help);

  CLI::App* app_;
  CLI::Option* needed_ = nullptr;
};

}  // namespace kaiseki::cli
