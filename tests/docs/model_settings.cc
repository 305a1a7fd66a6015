// SPDX-License-Identifier: MIT
// Prints each model with its settings and their defaults, as docs/site/models_page.py writes them
// into the tables of docs/classic-learning.md.
#include <cstdio>

#include "ml/model/registry.h"

using namespace kaiseki;

int main() {
  constexpr const char* kTasks[] = {"classification", "regression", "clustering", "transformation"};
  for (const ml::ModelKind& kind : ml::model_kinds()) {
    const auto model = ml::make_model(kind.name);
    std::string uses, settings;
    for (const ml::Use use : model->uses())
      uses += (uses.empty() ? "`" : ", `") + std::string(ml::use_name(use)) + "`";
    const Json values = model->settings();
    for (size_t i = 0; i < values.keys.size(); ++i) {
      const Json& value = values.items[i];
      settings += (i ? ", `" : "`") + values.keys[i] + "` (" +
                  (value.is(Json::Kind::string) ? value.string : format_json_line(value)) + ")";
    }
    std::printf("%s\t%s\t%s\t%s\t%s\n", std::string(kind.name).c_str(),
                kTasks[static_cast<size_t>(kind.task)], std::string(kind.about).c_str(),
                uses.c_str(), settings.c_str());
  }
}
