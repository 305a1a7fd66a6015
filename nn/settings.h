// SPDX-License-Identifier: MIT
// Settings: a layer lists its settings once, in Layer::settings(). The library uses the list to
// read and write JSON, and to make the table in docs/network-json.md.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace kaiseki::nn {

struct Initializer;

/// The largest dimension, stride or count that a network may have.
inline constexpr int64_t kMaxDimension = 1 << 24;

struct SettingRules {
  bool required = false;  // if false, the layer's initial value is the default
  double low = 1, high = static_cast<double>(kMaxDimension);  // of integers, both included
  std::string_view default_of = "";  // the default is the value of this setting, listed before
  std::string_view doc = "";         // a remark for the table
};

/// A bound without a default: rules that leave it out do not compile.
struct Bound {
  constexpr Bound(double value) : value(value) {}
  constexpr operator double() const { return value; }
  double value;
};

/// Rules of a number that is not an integer. Only the layer knows its bounds.
struct NumberRules {
  bool required = false;
  Bound low, high;  // both included
  std::string_view doc = "";
  operator SettingRules() const {
    return {.required = required, .low = low, .high = high, .doc = doc};
  }
};

/// A layer passes the name of each setting, and the variable that holds its value.
class Settings {
 public:
  virtual ~Settings() = default;
  virtual void integer(std::string_view name, int64_t& value, const SettingRules& rules = {}) = 0;
  /// One number for both, or [vertical, horizontal].
  virtual void pair(std::string_view name, std::array<int64_t, 2>& value,
                    const SettingRules& rules = {}) = 0;
  virtual void number(std::string_view name, double& value, const NumberRules& rules) = 0;
  virtual void boolean(std::string_view name, bool& value, const SettingRules& rules = {}) = 0;
  virtual void initializer(std::string_view name, Initializer& value,
                           const SettingRules& rules = {}) = 0;
  /// One of several names. The value is an enum. It counts from 0 in the order of the names.
  template <class Enum>
  void choice(std::string_view name, Enum& value, const std::vector<std::string_view>& names,
              const SettingRules& rules = {}) {
    auto index = static_cast<size_t>(value);
    choose(name, index, names, rules);
    value = static_cast<Enum>(index);
  }
  /// false, true, or one of several names. true means the first name. In the enum 0 is false, and
  /// the names follow in order.
  template <class Enum>
  void switch_or(std::string_view name, Enum& value, const std::vector<std::string_view>& names,
                 const SettingRules& rules = {}) {
    auto index = static_cast<size_t>(value);
    choose_switch(name, index, names, rules);
    value = static_cast<Enum>(index);
  }

 protected:
  virtual void choose(std::string_view name, size_t& value,
                      const std::vector<std::string_view>& names, const SettingRules& rules) = 0;
  virtual void choose_switch(std::string_view name, size_t& value,
                             const std::vector<std::string_view>& names,
                             const SettingRules& rules) = 0;
};

/// One setting of a layer, with its current value.
struct Setting {
  std::string name;
  Json value;
  SettingRules rules = {};
  bool bounded = false;              // rules.low and rules.high apply
  std::vector<std::string> choices;  // as JSON: true, "max"
};

/// Collects settings with their values.
class SettingsList final : public Settings {
 public:
  void integer(std::string_view name, int64_t& value, const SettingRules& rules) override;
  void pair(std::string_view name, std::array<int64_t, 2>& value,
            const SettingRules& rules) override;
  void number(std::string_view name, double& value, const NumberRules& rules) override;
  void boolean(std::string_view name, bool& value, const SettingRules& rules) override;
  void initializer(std::string_view name, Initializer& value, const SettingRules& rules) override;

  std::vector<Setting> all;

 protected:
  void choose(std::string_view name, size_t& value, const std::vector<std::string_view>& names,
              const SettingRules& rules) override;
  void choose_switch(std::string_view name, size_t& value,
                     const std::vector<std::string_view>& names,
                     const SettingRules& rules) override;
};

/// Returns the settings of a layer. A new layer has its defaults. Its required settings have no
/// meaningful value.
template <class Described>
std::vector<Setting> settings_of(Described& described) {
  SettingsList list;
  described.settings(list);
  return std::move(list.all);
}

/// Removes the keys of `params` whose value is the default. `settings` are those of a new layer.
void remove_defaults(Json& params, const std::vector<Setting>& settings);

}  // namespace kaiseki::nn
