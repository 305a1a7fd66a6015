// SPDX-License-Identifier: MIT
// Compares the tables of docs/network-json.md, docs/training.md and docs/tuning.md with the code:
// every type, key and default, and every solver.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/optimizer_rules.h"
#include "nn/recipe.h"
#include "nn/registry.h"
#include "tests/docs/page.h"
#include "tests/matrix/conv/directions.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;

namespace {

/// A key of a table and its default as JSON. Empty for a required key.
using Keys = std::map<std::string, std::string>;

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// "`stride` (1)", "`kind` (`"average"`; ...)", "`bias_initializer` (constant 0)"
std::string default_after(const std::string& cell, const std::string& key) {
  const std::string rest = cell.substr(cell.find("`" + key + "`") + key.size() + 2);
  if (!rest.starts_with(" (")) return "";
  std::string text = rest.substr(2, rest.find_first_of(";:)") - 2);
  text.erase(std::remove(text.begin(), text.end(), '`'), text.end());
  if (text == "constant 0") return R"({"type": "constant", "value": 0})";
  if (text == "kernel_size") return "2";  // the kernel_size in required_of()
  return is_word(text) && text != "true" && text != "false" ? "\"" + text + "\"" : text;
}

Keys keys_of(const std::string& cell) {
  Keys keys;
  for (const std::string& word : test::ticked(cell))
    if (is_word(word)) keys[word] = default_after(cell, word);
  return keys;
}

std::map<std::string, Keys> documented_layers() {
  std::map<std::string, Keys> layers;
  for (const auto& row : test::table_after(test::text_of("docs/network-json.md"), "### Layers"))
    for (const std::string& type : test::ticked(row[0])) layers[type] = keys_of(row[1]);
  layers["average_pooling"].insert(layers["max_pooling"].begin(), layers["max_pooling"].end());
  return layers;
}

/// Returns a default or a choice in the table's form: he, constant 0, `"max"`, 0.5.
std::string shown(const Json& value) {
  if (value.is(Json::Kind::string)) return "`" + value.describe() + "`";
  if (!value.is(Json::Kind::object)) return value.describe();
  const std::string& type = value.find("type")->string;
  return type == "constant" ? "constant " + value.find("value")->describe() : type;
}

/// "`kernel_size`, `bias` (true; false; `"position"`: a remark)"
std::string cell_of(const std::vector<nn::Setting>& settings) {
  std::string cell;
  for (const nn::Setting& setting : settings) {
    cell += (cell.empty() ? " `" : ", `") + setting.name + "`";
    if (setting.rules.required) continue;
    const std::string& first = setting.rules.default_of.empty()
                                   ? shown(setting.value)
                                   : std::string(setting.rules.default_of);
    cell += " (" + first;
    if (setting.choices != std::vector<std::string>{"true", "false"})
      for (const std::string& choice : setting.choices)
        if (choice != setting.value.describe())
          cell += "; " + (choice.starts_with('"') ? "`" + choice + "`" : choice);
    if (!setting.rules.doc.empty()) cell += ": " + std::string(setting.rules.doc);
    cell += ")";
  }
  return cell + " ";
}

/// Returns the required settings of a type, each with a value that is allowed.
Keys required_of(const std::string& type) {
  Keys keys;
  for (const nn::Setting& setting : nn::settings_of(*nn::make_layer(type))) {
    const nn::SettingRules& rules = setting.rules;
    if (!rules.required) continue;
    const Json value =
        setting.bounded ? Json(std::clamp(2.0, rules.low, rules.high)) : Json(std::string("he"));
    keys[setting.name] = setting.choices.empty() ? value.describe() : setting.choices[0];
  }
  return keys;
}

/// Returns a network with a layer "q" of this type. The layer has `keys` and `more`.
std::string network_of(const std::string& type, const Keys& keys, const std::string& more) {
  std::string layer = R"({"name": "q", "type": ")" + type + "\"";
  for (const auto& [key, value] : keys) layer += ", \"" + key + "\": " + value;
  if (type == "add" || type == "concatenation") layer += R"(, "inputs": ["a", "x"])";
  const bool loss = type == "softmax_cross_entropy" || type == "mean_squared_error";
  return R"({"inputs": {"x": {"shape": )" + std::string(loss ? "[4]" : "[4, 6, 5]") +
         R"(}}, "layers": [{"name": "a", "type": "leaky_relu", "slope": 0.3}, )" + layer + more +
         "}]}";
}

/// Returns the values of one step: loss or output, gradients, states.
std::vector<float> step_of(const std::string& json, const std::string& type) {
  nn::Network network = nn::Network::parse(json, "net.json", Device::cpu());
  network.initialize(3);
  Shape shape{3};
  for (int64_t dim : network.input_shape()) shape.push_back(dim);
  const Tensor x = test::random_tensor(shape, 5);
  std::vector<float> all;
  auto append = [&](const Tensor& t) {
    const std::vector<float> values = t.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  };
  network.zero_grad();
  if (type == "softmax_cross_entropy" || type == "mean_squared_error") {
    const std::vector<int32_t> labels{0, 3, 1};
    append(network.forward_loss(x, Tensor::from(std::span<const int32_t>(labels), {3})).loss);
    network.backward();
  } else {
    const Tensor y = network.forward(x, nn::Phase::train);
    append(y);
    append(network.backward(test::random_tensor(y.shape(), 6)));
  }
  for (const nn::Parameter& parameter : network.parameters()) append(parameter.value);
  for (const nn::State& state : network.states()) append(state.value);
  return all;
}

std::string problem_of(const std::string& json) {
  try {
    nn::Network::parse(json, "net.json", Device::cpu());
    return "";
  } catch (const ParseError& error) {
    return error.what();
  }
}

/// Returns the number after `symbol` in a text such as "lr 0.01, m 0.9". Returns `otherwise` if the
/// symbol is missing.
double number_after(const std::string& cell, const std::string& symbol, double otherwise) {
  const size_t at = cell.find(symbol + " ");
  return at == std::string::npos ? otherwise : std::stod(cell.substr(at + symbol.size() + 1));
}

}  // namespace

TEST_CASE("network-json: the table has every type of layer, and no other") {
  std::set<std::string> documented;
  for (const auto& [type, keys] : documented_layers()) documented.insert(type);
  const auto types = nn::layer_types();
  CHECK(documented == std::set<std::string>(types.begin(), types.end()));
}

TEST_CASE("network-json: every key of the table is known, with the default it says") {
  int defaults = 0;
  for (const auto& [type, keys] : documented_layers())
    for (const auto& [key, value] : keys) {
      const std::string place = type + "." + key + ": " + value;
      CAPTURE(place);
      if (value.empty()) {  // required: without it, the network's error names the key
        Keys others = required_of(type);
        CHECK(others.erase(key) == 1);
        CHECK(problem_of(network_of(type, others, "")).find(key) != std::string::npos);
        continue;
      }
      ++defaults;
      const std::string plain = network_of(type, required_of(type), "");
      const std::string told = network_of(type, required_of(type), ", \"" + key + "\": " + value);
      REQUIRE(problem_of(told) == "");
      CHECK(step_of(plain, type) == step_of(told, type));
    }
  CHECK(defaults >= 28);
}

TEST_CASE("network-json: the table has the settings of each type, as the layers list them") {
  const std::string page = test::text_of("docs/network-json.md");
  for (const auto& row : test::table_after(page, "### Layers"))
    for (const std::string& type : test::ticked(row[0])) {
      CAPTURE(type);
      const auto layer = nn::make_layer(type);
      REQUIRE(layer);
      CHECK(row[1] == cell_of(nn::settings_of(*layer)));
    }
}

TEST_CASE("network-json: the page's network and recipe, and its initializers with their defaults") {
  const std::string page = test::text_of("docs/network-json.md");
  const auto networks = test::code_blocks(page, "json");
  REQUIRE(networks.size() == 2);
  CHECK(nn::Network::parse(networks[0], "page", Device::cpu()).output_shape() == Shape{10});
  const Json recipe = parse_json("{" + networks[1] + "}", "page");
  CHECK(nn::read_recipe(*recipe.find("recipe"), "page").epochs == 3);
  const auto guide = test::code_blocks(test::text_of("docs/guides/pictures.md"), "json");
  REQUIRE(guide.size() == 1);
  CHECK(nn::Network::parse(guide[0], "guide", Device::cpu()).output_shape() == Shape{3});

  int types = 0;
  for (const auto& row : test::table_after(page, "### Initializers")) {
    const std::string type = test::ticked(row[0]).at(0);
    CAPTURE(type);
    ++types;
    auto with = [&](const std::string& initializer) {
      return step_of(network_of("fully_connected", {{"output_size", "4"}},
                                ", \"weight_initializer\": " + initializer),
                     "fully_connected");
    };
    std::string all = "{\"type\": \"" + type + "\"";
    for (const auto& [key, value] : keys_of(row[1])) all += ", \"" + key + "\": " + value;
    CHECK(with("\"" + type + "\"") == with(all + "}"));
  }
  CHECK(types == 6);
}

TEST_CASE("tuning: the table of solvers has every one and its directions") {
  std::set<std::string> documented;
  const auto page = test::text_of("docs/tuning.md");
  for (const auto& row : test::table_after(page, "## The solvers")) {
    const std::string directions = row[1].substr(0, row[1].find(" ("));
    for (const std::string& name : test::ticked(row[0])) {
      CAPTURE(name);
      CHECK(documented.insert(name).second);
      for (ConvDirection direction : test::kDirections) {
        const std::string word = "`" + std::string(direction_name(direction)) + "`";
        const bool has =
            directions.starts_with(" all") || directions.find(word) != std::string::npos;
        CHECK(has == test::has_direction(name, direction, false));
      }
    }
  }
  test::for_each_device([&](Device device) {
    for (const ConvSolver* solver : device.backend().conv_solvers()) {
      const std::string name(solver->name());
      CAPTURE(name);
      CHECK(documented.contains(name));
    }
  });
}

TEST_CASE("training: the table of optimizers has every name and default") {
  const nn::OptimizerOptions standard;
  std::vector<std::string> names;
  for (const auto& row : test::table_after(test::text_of("docs/training.md"), "## Optimizers")) {
    names.push_back(test::ticked(row[0]).at(0));
    CAPTURE(names.back());
    const nn::OptimizerRule& rule = nn::optimizer_rule(names.back());
    const std::string& defaults = row[2];
    const bool as_adam = names.back() == "adamw";  // "as adam, and ..."
    CHECK(number_after(defaults, "lr", -1) == nn::default_learning_rate(names.back()));
    CHECK(number_after(defaults, "ε", as_adam ? 1e-8 : 0) == rule.epsilon);
    CHECK(number_after(defaults, "decay", 0) == rule.weight_decay);
    CHECK(number_after(defaults, "m", 0.9) == standard.momentum);
    CHECK(number_after(defaults, "α", 0.99) == standard.alpha);
    CHECK(number_after(defaults, "β", 0.9) == standard.beta1);
    CHECK(number_after(defaults, "β 0.9 and", 0.999) == standard.beta2);
    auto uses = [&](const char* scalar) {
      return std::find(rule.scalars.begin(), rule.scalars.end(), scalar) != rule.scalars.end();
    };
    CHECK((defaults.find(", m ") != std::string::npos) == uses("m"));
    CHECK((defaults.find("α ") != std::string::npos) == uses("a"));
    CHECK((defaults.find("β ") != std::string::npos || as_adam) == uses("b1"));
  }
  CHECK(names == nn::optimizer_names());
}
