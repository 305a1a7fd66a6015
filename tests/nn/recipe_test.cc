// SPDX-License-Identifier: MIT
// The recipe in a network's JSON: its members, its errors, and the recipes in models/.
#include "nn/recipe.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "nn/network.h"
#include "nn/parse_network.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using nn::Network;
using nn::Recipe;

namespace {

Network network_with(const std::string& recipe) {
  return Network::parse(R"({"inputs": {"x": {"shape": [3]}},
                            "layers": [{"name": "a", "type": "relu"}], "recipe": )" +
                            recipe + "}",
                        "net.json", Device::cpu());
}

void check_problem(const std::string& recipe, const std::string& expected) {
  CHECK_THROWS_WITH_AS(network_with(recipe), ("net.json: " + expected).c_str(), ParseError);
}

}  // namespace

TEST_CASE("recipe: all members are read, and written again") {
  const std::string text =
      R"({"epochs": 7, "batch_size": 32, "optimizer": "nesterov", "learning_rate": 0.05, )"
      R"("momentum": 0.8, "weight_decay": 0.0005, "clip_norm": 2, "schedule": "step", )"
      R"("warmup": 0.5, "step_size": 2, "gamma": 0.2, "minimum_rate": 0.001, )"
      R"("augment": "flip,crop:3", "resize": 40, "mean": [0.5], "std": [0.1, 0.2, 0.3]})";
  const Network network = network_with(text);
  CHECK(to_json(network.recipe()) == parse_json(text, "text"));
  const Network again = Network::parse(network.json(), "again", Device::cpu());
  CHECK(to_json(again.recipe()) == parse_json(text, "text"));
}

TEST_CASE("recipe: Sukiyaki's format has it too, and a network needs none") {
  const std::string layers =
      R"("layer_params": [{"type": "fc", "params": {"input_size": 3, "output_size": 2}}])";
  const Network without = Network::parse("{" + layers + "}", "net.json", Device::cpu());
  CHECK(to_json(without.recipe()).items.empty());
  CHECK(without.json().find("recipe") == std::string::npos);
  const Network with =
      Network::parse("{" + layers + R"(, "recipe": {"epochs": 4}})", "net.json", Device::cpu());
  CHECK(with.recipe().epochs == 4);
}

TEST_CASE("recipe: errors name the place") {
  check_problem("3", "recipe: expected an object, got 3");
  check_problem(R"({"epoch": 3})",
                "recipe.epoch: expected a known key, got \"epoch\", did you mean \"epochs\"?");
  check_problem(R"({"epochs": -1})", "recipe.epochs: expected an integer from 0 to 1e+09, got -1");
  check_problem(R"({"learning_rate": 0})",
                "recipe.learning_rate: expected a number from 1e-12 to 1e+09, got 0");
  check_problem(R"({"optimizer": "adm"})",
                "recipe.optimizer: expected one of sgd momentum nesterov adagrad rmsprop adam "
                "adamw, got \"adm\"");
  check_problem(R"({"momentum": 1})", "recipe.momentum: expected a number from 0 to 1, got 1");
  check_problem(R"({"augment": "flop"})",
                "recipe.augment: expected none, or flip, crop or crop:PADDING joined by commas, "
                "got \"flop\"");
  check_problem(R"({"std": [0.5, 0]})",
                "recipe.std: expected a list of numbers from 1e-12 to 1e+09, got 0");
  check_problem(R"({"schedule": "step"})",
                "recipe.step_size: expected epochs between two reductions, got nothing");
  check_problem(R"({"learning_rate": 0.1, "minimum_rate": 0.2})",
                "recipe.minimum_rate: expected at most the learning rate, got 0.2");
}

TEST_CASE("recipe: the first value of a key applies; a learning rate belongs to its optimizer") {
  const Recipe own = network_with(R"({"optimizer": "momentum", "learning_rate": 0.03,
                                      "schedule": "cosine", "epochs": 3})")
                         .recipe();
  const Recipe rest = completed(own, nn::default_recipe());
  Recipe given;
  given.epochs = 4;
  const Recipe one = completed(given, rest);
  CHECK(one.epochs == 4);
  CHECK(one.batch_size == 64);
  CHECK(nn::learning_rate_of(one) == 0.03);
  CHECK(nn::schedule_of(one, 10).total == 40);
  CHECK(nn::schedule_of(one, 10).name == "cosine");
  given.optimizer = "adam";
  CHECK(nn::learning_rate_of(completed(given, rest)) == 0.001);
  given.optimizer = "momentum";
  CHECK(nn::learning_rate_of(completed(given, rest)) == 0.03);
  given.learning_rate = 0.5;
  given.optimizer = "adam";
  CHECK(nn::optimizer_of(completed(given, rest)).name == "adam");
  CHECK(nn::learning_rate_of(completed(given, rest)) == 0.5);
}

TEST_CASE("recipe: each network in models/ has one") {
  const std::filesystem::path folder = test::source_dir() + "/models";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    CAPTURE(file.path());
    const ByteVector bytes = read_file(file.path(), 1 << 20);
    const Recipe recipe = nn::parse_network(as_text(bytes), file.path().string()).recipe;
    CHECK(recipe.epochs.value_or(0) > 0);
    CHECK(recipe.learning_rate.value_or(0) > 0);
    CHECK((recipe.optimizer && recipe.schedule && recipe.weight_decay));
  }
}
