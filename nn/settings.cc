// SPDX-License-Identifier: MIT
#include "nn/settings.h"

#include <algorithm>
#include <utility>

#include "nn/initializer.h"

namespace kaiseki::nn {

void SettingsList::integer(std::string_view name, int64_t& value, const SettingRules& rules) {
  all.push_back({std::string(name), value, rules, true, {}});
}

void SettingsList::pair(std::string_view name, std::array<int64_t, 2>& value,
                        const SettingRules& rules) {
  const bool one = value[0] == value[1];
  all.push_back({std::string(name),
                 one ? Json(value[0]) : Json::array({value[0], value[1]}),
                 rules,
                 true,
                 {}});
}

void SettingsList::number(std::string_view name, double& value, const NumberRules& rules) {
  all.push_back({std::string(name), value, rules, true, {}});
}

void SettingsList::boolean(std::string_view name, bool& value, const SettingRules& rules) {
  all.push_back({std::string(name), value, rules, false, {"true", "false"}});
}

void SettingsList::initializer(std::string_view name, Initializer& value,
                               const SettingRules& rules) {
  all.push_back({std::string(name), to_json(value), rules, false, {}});
}

void SettingsList::choose(std::string_view name, size_t& value,
                          const std::vector<std::string_view>& names, const SettingRules& rules) {
  Setting setting{std::string(name), std::string(names[value]), rules, false, {}};
  for (const std::string_view one : names)
    setting.choices.push_back(Json(std::string(one)).describe());
  all.push_back(std::move(setting));
}

void SettingsList::choose_switch(std::string_view name, size_t& value,
                                 const std::vector<std::string_view>& names,
                                 const SettingRules& rules) {
  const Json now = value <= 1 ? Json(value == 1) : Json(std::string(names[value - 1]));
  Setting setting{std::string(name), now, rules, false, {"true", "false"}};
  for (size_t i = 1; i < names.size(); ++i)
    setting.choices.push_back(Json(std::string(names[i])).describe());
  all.push_back(std::move(setting));
}

void remove_defaults(Json& params, const std::vector<Setting>& settings) {
  const auto is_default = [&](const std::string& key, const Json& value) {
    const auto setting = std::find_if(settings.begin(), settings.end(),
                                      [&](const Setting& s) { return s.name == key; });
    if (setting == settings.end() || setting->rules.required) return false;
    const std::string_view other = setting->rules.default_of;
    const Json* const shared = other.empty() ? nullptr : params.find(other);
    return value == (shared ? *shared : setting->value);
  };
  Json kept = Json::object();
  for (size_t i = 0; i < params.keys.size(); ++i)
    if (!is_default(params.keys[i], params.items[i])) kept.set(params.keys[i], params.items[i]);
  params = std::move(kept);
}

}  // namespace kaiseki::nn
