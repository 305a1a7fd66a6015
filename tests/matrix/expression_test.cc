// SPDX-License-Identifier: MIT
#include "matrix/expression.h"

#include <doctest/doctest.h>

#include <thread>

#include "base/error.h"

using kaiseki::Error;
using kaiseki::Expression;
using Names = std::vector<std::string>;

TEST_CASE("expression: names are inputs, scalars or outputs") {
  auto e = Expression::parse("v = m*v - lr*g; w = w + v", {"m", "lr"});
  CHECK(e->inputs() == Names{"v", "g", "w"});
  CHECK(e->scalars() == Names{"m", "lr"});
  REQUIRE(e->outputs().size() == 2);
  CHECK(e->outputs()[0].name == "v");
  CHECK(e->outputs()[1].name == "w");
  auto bare = Expression::parse("a*x + y", {});
  CHECK(bare->inputs() == Names{"a", "x", "y"});
  CHECK(bare->outputs()[0].name.empty());
}

TEST_CASE("expression: operands come before their instruction") {
  auto e = Expression::parse("max(a, b) > 0 ? exp(-a) / 2 : pow(b, 1.5e-3)", {"b"});
  const auto& program = e->program();
  for (size_t i = 0; i < program.size(); ++i) {
    const auto& in = program[i];
    if (in.code == Expression::Code::input || in.code == Expression::Code::scalar) continue;
    for (int operand : {in.a, in.b, in.c}) CHECK(operand < static_cast<int>(i));
  }
}

TEST_CASE("expression: equal subexpressions are one value") {
  CHECK(Expression::parse("(a + b) * (a + b)", {})->program().size() == 4);
  CHECK(Expression::parse("exp(a) + exp(a) + 1 - 1", {})->program().size() == 6);
  CHECK(Expression::parse("v = 2*a; w = 2*a", {})->program().size() == 3);
}

TEST_CASE("expression: a text is parsed once for each set of scalars") {
  auto first = Expression::parse("p + q", {"p", "q"});
  CHECK(Expression::parse("p + q", {"q", "p"}) == first);
  CHECK(Expression::parse("p + q", {"p"}) != first);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 1500; ++i)
        Expression::parse("x + " + std::to_string((i * 7 + t) % 2000), {});
    });
  for (auto& thread : threads) thread.join();
  CHECK(first->inputs().empty());
}

TEST_CASE("expression: an error states the position") {
  auto text_of = [](const std::string& text, const Names& scalars = {}) -> std::string {
    try {
      Expression::parse(text, scalars);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(text_of("a +") == "[expression] expected a value, got the end at column 4 of 'a +'");
  CHECK(text_of("a b") ==
        "[expression] expected an operator, ';' or the end, got 'b' at column 3 of 'a b'");
  CHECK(text_of("(a") == "[expression] expected ')', got the end at column 3 of '(a'");
  CHECK(text_of("foo(a)").find("column 1") != std::string::npos);
  for (const char* bad : {"",           " ",       "a = ",         "= a",  "a == ",   "a ? b",
                          "a ? b :",    "max(a)",  "max(a, b, c)", "exp",  "exp a",   "1.2.3",
                          "1e",         "2x",      "1e99",         ".",    "a; b",    "a = b; c",
                          "a; b = c",   "exp = a", "a $ b",        "a)",   "a + * b", "a = b = c",
                          ";",          "a;;b",    "3 = a",        "a &&", "a ! b",   "a &&& b",
                          "clamp(a, b)"}) {
    INFO(std::string(bad));
    CHECK(!text_of(bad).empty());
  }
  CHECK(!text_of("s = a", {"s"}).empty());
  CHECK(!text_of(std::string(100000, '(')).empty());
  CHECK(!text_of(std::string(1000, '(') + "a").empty());
  CHECK(!text_of(std::string(60000, '-') + "a").empty());
  CHECK(text_of("a = b;").empty());
  CHECK(text_of(std::string(100, '(') + "a" + std::string(100, ')')).empty());
}

TEST_CASE("expression: operators have the precedence of C") {
  auto count = [](const char* text) { return Expression::parse(text, {})->program().size(); };
  auto last = [](const char* text) { return Expression::parse(text, {})->program().back().code; };
  CHECK(last("a + b * c") == Expression::Code::add);
  CHECK(last("(a + b) * c") == Expression::Code::multiply);
  CHECK(last("a < b + c") == Expression::Code::less);
  CHECK(last("-a * b") == Expression::Code::multiply);
  CHECK(last("a < b ? c : d") == Expression::Code::select);
  CHECK(last("a || b && c") == Expression::Code::logical_or);
  CHECK(last("a && b | c") == Expression::Code::logical_and);
  CHECK(last("a | b ^ c") == Expression::Code::bit_or);
  CHECK(last("a ^ b & c") == Expression::Code::bit_xor);
  CHECK(last("a & b == c") == Expression::Code::bit_and);
  CHECK(last("a == b < c") == Expression::Code::equal);
  CHECK(last("a < b << c") == Expression::Code::less);
  CHECK(last("a << b + c") == Expression::Code::shift_left);
  CHECK(last("a - b // c") == Expression::Code::subtract);
  CHECK(last("a % b // c") == Expression::Code::floor_divide);
  CHECK(last("!a && b") == Expression::Code::logical_and);
  CHECK(last("~a | b") == Expression::Code::bit_or);
  CHECK(count("+a") == 1);
  CHECK(last("2 * 3 - 7") == Expression::Code::constant);
  CHECK(count("a--b") == 4);
}
