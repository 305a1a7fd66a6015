// SPDX-License-Identifier: MIT
#include "nn/settings_reader.h"

#include <algorithm>

#include "nn/initializer_json.h"

namespace kaiseki::nn {
namespace {

template <class T>
std::optional<T> default_of(const T& value, const SettingRules& rules) {
  return rules.required ? std::nullopt : std::optional<T>(value);
}

size_t index_of(const std::vector<std::string_view>& names, std::string_view name) {
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

void SettingsReader::integer(std::string_view name, int64_t& value, const SettingRules& rules) {
  value = params_.integer(name, default_of(value, rules), static_cast<int64_t>(rules.low),
                          static_cast<int64_t>(rules.high));
}

void SettingsReader::pair(std::string_view name, std::array<int64_t, 2>& value,
                          const SettingRules& rules) {
  if (!rules.default_of.empty()) value = pairs_.find(rules.default_of)->second;
  value = params_.pair(name, default_of(value, rules), static_cast<int64_t>(rules.low),
                       static_cast<int64_t>(rules.high));
  pairs_.emplace(name, value);
}

void SettingsReader::number(std::string_view name, double& value, const NumberRules& rules) {
  value = params_.number(name, default_of<double>(value, rules), rules.low, rules.high);
}

void SettingsReader::boolean(std::string_view name, bool& value, const SettingRules& rules) {
  value = params_.boolean(name, default_of(value, rules));
}

void SettingsReader::initializer(std::string_view name, Initializer& value,
                                 const SettingRules& rules) {
  value = read_initializer(params_, name, default_of(value, rules));
}

void SettingsReader::choose(std::string_view name, size_t& value,
                            const std::vector<std::string_view>& names, const SettingRules& rules) {
  value = index_of(names, params_.choice(name, default_of(names[value], rules), names));
}

void SettingsReader::choose_switch(std::string_view name, size_t& value,
                                   const std::vector<std::string_view>& names,
                                   const SettingRules& rules) {
  const std::string found = params_.switch_or(name, default_of(value > 0, rules), names);
  value = found == "false" ? 0 : 1 + index_of(names, found);
}

}  // namespace kaiseki::nn
