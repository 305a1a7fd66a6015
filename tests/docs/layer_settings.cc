// SPDX-License-Identifier: MIT
// Prints the type and the keys of every layer, as docs/site/layers_page.py writes them into the
// table of docs/network-json.md.
#include <cstdio>

#include "nn/registry.h"

using namespace kaiseki;

namespace {

/// Returns a default or a choice in the table's form: he, constant 0, `"max"`, 0.5.
std::string shown(const Json& value) {
  if (value.is(Json::Kind::string)) return "`" + value.describe() + "`";
  if (!value.is(Json::Kind::object)) return value.describe();
  const std::string& type = value.find("type")->string;
  return type == "constant" ? "constant " + value.find("value")->describe() : type;
}

/// "`kernel_size`, `bias` (true; false; `"position"`: a remark), `size` (required: a remark)"
std::string shown(const nn::Setting& setting) {
  const bool required = setting.rules.required;
  std::string details = required                           ? "required"
                        : setting.rules.default_of.empty() ? shown(setting.value)
                                                           : std::string(setting.rules.default_of);
  if (setting.choices != std::vector<std::string>{"true", "false"})
    for (const std::string& choice : setting.choices)
      if (required || choice != setting.value.describe())
        details += "; " + (choice.starts_with('"') ? "`" + choice + "`" : choice);
  if (!setting.rules.doc.empty()) details += ": " + std::string(setting.rules.doc);
  const std::string name = "`" + setting.name + "`";
  return details == "required" ? name : name + " (" + details + ")";
}

}  // namespace

int main() {
  for (const std::string& type : nn::layer_types()) {
    std::string keys;
    for (const nn::Setting& setting : nn::settings_of(*nn::make_layer(type)))
      keys += (keys.empty() ? "" : ", ") + shown(setting);
    std::printf("%s\t%s\n", type.c_str(), keys.c_str());
  }
}
