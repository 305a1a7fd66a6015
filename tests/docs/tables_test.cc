// SPDX-License-Identifier: MIT
// Compares the tables of docs/network-json.md, docs/training.md and docs/tuning.md with the code:
// initializers, optimizers and solvers with their defaults.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "base/json.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/optimizer_rules.h"
#include "nn/recipe.h"
#include "tests/docs/page.h"
#include "tests/matrix/conv/directions.h"
#include "tests/support/devices.h"

using namespace kaiseki;

namespace {

/// A key of a table and its default as JSON.
using Keys = std::map<std::string, std::string>;

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// Returns 0.01 for "`deviation` (0.01)", and "normal" for "`distribution` (`"normal"`;
/// `"uniform"`)".
std::string default_after(const std::string& cell, const std::string& key) {
  std::string text = test::between(cell, "`" + key + "` (", ")");
  text.resize(std::min(text.size(), text.find(';')));
  std::erase(text, '`');
  return text;
}

Keys keys_of(const std::string& cell) {
  Keys keys;
  for (const std::string& word : test::ticked(cell))
    if (is_word(word)) keys[word] = default_after(cell, word);
  return keys;
}

/// Returns the number after `symbol` in a text such as "lr 0.01, m 0.9". Returns `otherwise` if the
/// symbol is missing.
double number_after(const std::string& cell, const std::string& symbol, double otherwise) {
  const size_t at = cell.find(symbol + " ");
  return at == std::string::npos ? otherwise : std::stod(cell.substr(at + symbol.size() + 1));
}

}  // namespace

TEST_CASE("network-json: the page's network and recipe, and its initializers with their defaults") {
  const std::string page = test::text_of("docs/network-json.md");
  const auto networks = test::code_blocks(page, "json");
  REQUIRE(networks.size() == 3);
  CHECK(nn::Network::parse(networks[0], "page", Device::cpu()).output_shape() == Shape{10});
  CHECK(nn::Network::parse(networks[2], "page", Device::cpu()).output_shape() == Shape{10});
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
    auto with = [](const std::string& initializer) {
      nn::Network network = nn::Network::parse(
          R"({"inputs": {"x": {"shape": [5]}}, "layers": [
              {"type": "fully_connected", "output_size": 4, "weight_initializer": )" +
              initializer + "}]}",
          "net.json", Device::cpu());
      network.initialize(3);
      return network.parameters()[0].value.to_vector();
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

TEST_CASE("tuning: the sample of the output has solvers of the CPU") {
  std::set<std::string> names;
  for (const ConvSolver* solver : Device::cpu().backend().conv_solvers())
    names.emplace(solver->name());
  const std::string sample =
      test::between(test::text_of("docs/tuning.md"), "layer  direction", "total");
  int rows = 0;
  std::istringstream lines(sample);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("conv")) continue;
    ++rows;
    std::istringstream words(line);
    std::string layer, direction;
    words >> layer >> direction;
    for (std::string word; words >> word;) {
      if (!std::isalpha(static_cast<unsigned char>(word[0])) || word.ends_with("iB")) continue;
      CAPTURE(word);
      CHECK(names.contains(word));
    }
  }
  CHECK(rows == 5);
}
