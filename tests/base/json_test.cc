// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace kaiseki;

namespace {

std::string problem(std::string_view text) {
  try {
    parse_json(text, "f.json");
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("json: values, escapes, numbers") {
  const Json value = parse_json(
      R"( {"a": [1, -2.5e3, true, false, null], "b": {"": "\"\\\/\b\f\n\r\t\u00e9\ud83c\udf71"}} )",
      "f");
  const Json& list = *value.find("a");
  CHECK(list.items[0].is_integer());
  CHECK(list.items[1].number == -2500);
  CHECK(list.items[2].boolean);
  CHECK(list.items[4].is(Json::Kind::null));
  CHECK(value.find("b")->find("")->string == "\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x8d\xb1");
  CHECK(value.find("c") == nullptr);
  CHECK_FALSE(Json(0.5).is_integer());
  CHECK_FALSE(Json(1e300).is_integer());
}

TEST_CASE("json: braces around a list, as in the paper's figure") {
  const Json value = parse_json(R"({"layer_params": {{"type": "conv"}, {"type": "pool"}}})", "f");
  const Json& list = *value.find("layer_params");
  CHECK(list.is(Json::Kind::array));
  CHECK(list.items.size() == 2);
}

TEST_CASE("json: reads what it writes") {
  const Json value = parse_json(R"({"a": [1, 0.1, 1e-300, "x\ny\u0001\"\\"], "long": [)" +
                                    std::string(120, '1') + R"(, {}], "e": []})",
                                "f");
  CHECK(parse_json(format_json(value), "f") == value);
  CHECK(parse_json(format_json_line(value), "f") == value);
  CHECK(parse_json(format_json_compact(value), "f") == value);
  CHECK(format_json_line(value).find('\n') == std::string::npos);
}

TEST_CASE("json: compact text has no spaces between values") {
  CHECK(format_json_compact(parse_json(R"({"a b": [1, {}, [], {"c": null}], "d": true})", "f")) ==
        R"({"a b":[1,{},[],{"c":null}],"d":true})");
}

TEST_CASE("json: in quotes, control characters are escaped, and bytes that are not UTF-8 stay") {
  CHECK(quote_json("") == "\"\"");
  CHECK(quote_json("a\"b\\c\b\f\n\r\t/") == R"("a\"b\\c\b\f\n\r\t/")");
  CHECK(quote_json("\x01\x7f\xc2\x9b\u202e\u2066é懐") == R"("\u0001\u007f\u009b\u202e\u2066é懐")");
  CHECK(quote_json("a\xff\xc2") == "\"a\xff\xc2\"");
}

TEST_CASE("json: a byte order mark before the document is skipped") {
  CHECK(parse_json("\xEF\xBB\xBF[1]", "f") == parse_json("[1]", "f"));
  CHECK(problem("[1]\xEF\xBB\xBF") != "");
}

TEST_CASE("json: errors name the line and the expected text") {
  CHECK(problem("{\n\"a\": 1,\n}") == "f.json: line 3: expected a key in quotes, got '}'");
  CHECK(problem("[1 2]") == "f.json: line 1: expected ',' or ']', got '2'");
  CHECK(problem("{\"a\": 1, \"a\": 2}").find("the key \"a\" once only") != std::string::npos);
  CHECK(problem("").find("expected a value, got the end of the text") != std::string::npos);
  for (const char* text :
       {"[", "{", "{\"a\"", "{\"a\":", "\"a", "\"\\", "\"\\u12", "\"\\ud800\"", "01", "-", "1e999",
        "nul", "[1]]", "\"\\x\"", "\"\\ud800\\u0041\"", "NaN", "+1"})
    CHECK_MESSAGE(problem(text) != "", text);
  CHECK(problem(std::string(100'000, '[')).find("at most 64 levels") != std::string::npos);
  std::string many = "[1";
  for (int i = 0; i < 200'000; ++i) many += ",1";
  CHECK(problem(many + "]").find("at most 200000 values") != std::string::npos);
  CHECK(problem(std::string("[\0]", 3)).find("byte 0") != std::string::npos);
}
