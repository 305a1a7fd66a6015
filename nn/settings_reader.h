// SPDX-License-Identifier: MIT
// SettingsReader: reads the settings of a layer from its JSON.
#pragma once

#include <map>

#include "nn/layer_params.h"
#include "nn/settings.h"

namespace kaiseki::nn {

/// Throws ParseError as LayerParams does.
class SettingsReader final : public Settings {
 public:
  explicit SettingsReader(LayerParams& params) : params_(params) {}

  void integer(std::string_view name, int64_t& value, const SettingRules& rules) override;
  void pair(std::string_view name, std::array<int64_t, 2>& value,
            const SettingRules& rules) override;
  void number(std::string_view name, double& value, const NumberRules& rules) override;
  void boolean(std::string_view name, bool& value, const SettingRules& rules) override;
  void initializer(std::string_view name, Initializer& value, const SettingRules& rules) override;

 protected:
  void choose(std::string_view name, size_t& value, const std::vector<std::string_view>& names,
              const SettingRules& rules) override;
  void choose_switch(std::string_view name, size_t& value,
                     const std::vector<std::string_view>& names,
                     const SettingRules& rules) override;

 private:
  LayerParams& params_;
  std::map<std::string, std::array<int64_t, 2>, std::less<>>
      pairs_;  // for SettingRules::default_of
};

}  // namespace kaiseki::nn
