// SPDX-License-Identifier: MIT
#include "ml/archive.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"

using namespace kaiseki;
using namespace kaiseki::ml;

namespace {

enum class Fruit : uint8_t { apple, pear };

struct Everything {
  bool flag = true;
  int64_t whole = -3;
  uint64_t seed = 1ull << 52;
  double real = 0.1;
  std::string text = "a \"b\"";
  std::optional<int64_t> none = {}, some = 7;
  std::vector<std::string> texts = {"x", ""};
  std::vector<double> doubles = {1.0 / 3, -2};
  std::vector<float> floats = {0.5f};
  std::vector<int32_t> integers = {};
  Tensor tensor =
      Tensor::from(std::span<const float>(std::vector<float>{1, 2, 3, 4}), {2, 2}, Device::cpu());
  Tensor undefined;
  Fruit fruit = Fruit::pear;

  void archive(Archive& a) {
    a("flag", flag);
    a("whole", whole);
    a("seed", seed);
    a("real", real);
    a("text", text);
    a("none", none);
    a("some", some);
    a("texts", texts);
    a("doubles", doubles);
    a("floats", floats);
    a("integers", integers);
    a("tensor", tensor);
    a("undefined", undefined);
    a("fruit", fruit, {"apple", "pear"});
  }
};

template <class T>
std::string error_of(const std::string& json, T value) {
  Archive archive(parse_json(json, "json"), {}, "f", true);
  try {
    archive("v", value);
    archive.expect_all_read();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Archive: what is written can be read, also through JSON text") {
  Everything written;
  Archive writer;
  written.archive(writer);
  Everything read{.flag = false,
                  .whole = 0,
                  .seed = 0,
                  .real = 0,
                  .text = "",
                  .none = 1,
                  .some = {},
                  .texts = {},
                  .doubles = {},
                  .floats = {},
                  .integers = {9},
                  .tensor = {},
                  .undefined = Tensor({1}, DType::f32, Device::cpu()),
                  .fruit = Fruit::apple};
  Archive reader(parse_json(format_json_line(writer.values()), "text"), writer.tensors(), "f",
                 true);
  read.archive(reader);
  reader.expect_all_read();
  CHECK(read.flag);
  CHECK(read.whole == -3);
  CHECK(read.seed == 1ull << 52);
  CHECK(read.real == 0.1);
  CHECK(read.text == written.text);
  CHECK_FALSE(read.none.has_value());
  CHECK(read.some == 7);
  CHECK(read.texts == written.texts);
  CHECK(read.doubles == written.doubles);
  CHECK(read.floats == written.floats);
  CHECK(read.integers.empty());
  CHECK(read.tensor.to_vector() == std::vector<float>{1, 2, 3, 4});
  CHECK_FALSE(read.undefined.defined());
  CHECK(read.fruit == Fruit::pear);
}

TEST_CASE("Archive: errors name the value") {
  CHECK(error_of(R"({"v": 1})", true) == "f: v: expected true or false, got 1");
  CHECK(error_of(R"({"v": 1.5})", int64_t{0}) == "f: v: expected a whole number, got 1.5");
  CHECK(error_of(R"({"v": 1e300})", int64_t{0}).starts_with("f: v: expected a whole number"));
  CHECK(error_of(R"({"v": -1})", uint64_t{0}) == "f: v: expected 0 or more, got -1");
  CHECK(error_of(R"({"v": "x"})", 0.0) == "f: v: expected a number, got \"x\"");
  CHECK(error_of(R"({"v": 1})", std::string()) == "f: v: expected a text, got 1");
  CHECK(error_of(R"({"v": [1]})", std::vector<std::string>()) == "f: v: expected a text, got 1");
  CHECK(error_of("{}", 0.0) == "f: v: expected a value, got none");
  CHECK(error_of(R"({"v": 1, "w": 2})", 0.0) == "f: w: expected one of the names v, got another");
  CHECK(error_of("{}", std::vector<double>()) == "f: v: expected a tensor, got none");
  Archive archive(parse_json(R"({"v": "plum"})", "json"), {}, "f", true);
  Fruit fruit = Fruit::apple;
  CHECK_THROWS_WITH_AS(archive("v", fruit, {"apple", "pear"}),
                       "f: v: expected apple, pear, got \"plum\"", ParseError);
}

TEST_CASE("Archive: JSON has no number for NaN and infinity, so writing one is an error") {
  Archive archive;
  double infinite = -HUGE_VAL, nan = std::nan("");
  CHECK_THROWS_WITH_AS(archive("score", infinite),
                       "[Archive] expected a finite number for score, got -inf", Error);
  CHECK_THROWS_AS(archive("score", nan), Error);
}

TEST_CASE("Archive: tensors of another type or rank are refused") {
  const Tensor matrix({1, 1}, DType::f64, Device::cpu());
  Archive archive(Json::object(), {{"v", matrix}}, "f", true);
  std::vector<double> doubles;
  CHECK_THROWS_WITH_AS(archive("v", doubles), "f: v: expected f64 [n], got f64 [1, 1]", ParseError);
  std::vector<int32_t> integers;
  CHECK_THROWS_AS(archive("v", integers), ParseError);
}

TEST_CASE("Archive: settings that are missing keep their values") {
  Archive archive(Json::object(), {}, "f", false);
  double real = 2;
  archive("v", real);
  CHECK(real == 2);
}
