// SPDX-License-Identifier: MIT
#include "matrix/ops/elementwise.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "matrix/ops/lazy.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// f of the broadcast elements of a and b, in double.
Doubles broadcast(const Tensor& a, const Tensor& b,
                  const std::function<double(double, double)>& f) {
  Doubles x = doubles(a), y = doubles(b), result;
  for_each_index(broadcast_shapes(a.shape(), b.shape(), "test"), [&](const Shape& index) {
    result.push_back(
        f(x[broadcast_position(a.shape(), index)], y[broadcast_position(b.shape(), index)]));
  });
  return result;
}

}  // namespace

TEST_CASE("elementwise: operators round once, on every length") {
  for_each_device([](Device device) {
    for (int64_t n : {0, 1, 2, 3, 15, 16, 17, 31, 1023, 1024, 1025, 70001}) {
      CAPTURE(n);
      Tensor a = random_tensor({n}, 1, device), b = random_tensor({n}, 2, device, 0.5f, 2);
      check_close(add(a, b), broadcast(a, b, std::plus<>()), 6e-8);
      check_close(subtract(a, b), broadcast(a, b, std::minus<>()), 6e-8);
      check_close(multiply(a, b), broadcast(a, b, std::multiplies<>()), 6e-8);
      // OpenCL allows 2.5 units in the last place for a division.
      check_close(divide(a, b), broadcast(a, b, std::divides<>()), device.is_cpu() ? 6e-8 : 1.6e-7);
    }
  });
}

TEST_CASE("elementwise: shapes broadcast as in NumPy") {
  const std::pair<Shape, Shape> cases[] = {
      {{}, {}},
      {{}, {5}},
      {{1}, {7}},
      {{3, 1}, {1, 5}},
      {{5}, {3, 5}},
      {{3, 5}, {3, 1}},
      {{2, 3, 4, 5}, {3, 1, 1}},
      {{2, 1, 4, 1}, {3, 1, 5}},
      {{0, 3}, {3}},
      {{2, 0}, {1}},
      {{1, 0}, {4, 1}},
      {{2, 1, 2, 1, 2, 1, 2, 3}, {1, 2, 1, 2, 1, 2, 1, 1}},
      {{64, 10}, {10}},
      {{37, 1, 41}, {37, 19, 1}},
  };
  for_each_device([&](Device device) {
    for (const auto& shapes : cases) {
      const Shape &left = shapes.first, &right = shapes.second;
      INFO(left.str());
      INFO(right.str());
      Tensor a = random_tensor(left, 3, device), b = random_tensor(right, 4, device);
      Tensor sum = add(a, b);
      CHECK(sum.shape() == broadcast_shapes(left, right, "test"));
      check_close(sum, broadcast(a, b, std::plus<>()), 6e-8);
      check_close(subtract(b, a), broadcast(b, a, std::minus<>()), 6e-8);
    }
  });
}

TEST_CASE("elementwise: views of any strides") {
  for_each_device([](Device device) {
    Tensor a = random_tensor({7, 11, 13}, 5, device);
    Tensor b = random_tensor({13, 11, 7}, 6, device);
    int reversed[] = {2, 1, 0};
    Tensor view = b.permute(reversed);
    check_close(add(a, view), broadcast(a, view, std::plus<>()), 6e-8);
    Tensor part = a.slice(1, 2, 5), other = view.slice(1, 6, 5);
    check_close(add(part, other), broadcast(part, other, std::plus<>()), 6e-8);
    Tensor wide = a.slice(2, 3, 1).broadcast_to({7, 11, 4});
    check_close(add(wide, wide), broadcast(wide, wide, std::plus<>()), 6e-8);
  });
}

TEST_CASE("elementwise: functions agree with <cmath>") {
  struct Case {
    const char* text;
    double (*reference)(double);
    float low, high;
    double relative, absolute;
  };
  // Highway guarantees 4 units in the last place (2.4e-7) for its functions, OpenCL 4 for these.
  // sigmoid adds two roundings. Near zeros of sin and cos, the bound is absolute.
  const Case cases[] = {
      {"abs(x)", [](double x) { return std::abs(x); }, -9, 9, 0, 0},
      {"sqrt(x)", [](double x) { return std::sqrt(x); }, 0, 1e6, 1.8e-7, 0},
      {"rsqrt(x)", [](double x) { return 1 / std::sqrt(x); }, 0.001f, 1e6, 1.8e-7, 0},
      {"exp(x)", [](double x) { return std::exp(x); }, -87, 88, 3e-7, 0},
      {"log(x)", [](double x) { return std::log(x); }, 1e-6f, 1e6, 3e-7, 1e-7},
      {"sin(x)", [](double x) { return std::sin(x); }, -100, 100, 3e-7, 1e-7},
      {"cos(x)", [](double x) { return std::cos(x); }, -100, 100, 3e-7, 1e-7},
      {"sin(x)", [](double x) { return std::sin(x); }, -1e6, 1e6, 3e-7, 1e-7},
      {"tanh(x)", [](double x) { return std::tanh(x); }, -12, 12, 3.5e-7, 0},
      {"tanh(x)", [](double x) { return std::tanh(x); }, -0.01f, 0.01f, 3.5e-7, 0},
      {"sigmoid(x)", [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 5e-7, 0},
      {"floor(x)", [](double x) { return std::floor(x); }, -50, 50, 0, 0},
      {"ceil(x)", [](double x) { return std::ceil(x); }, -50, 50, 0, 0},
      {"round(x)", [](double x) { return std::nearbyint(x); }, -50, 50, 0, 0},
      {"round(x)", [](double x) { return std::nearbyint(x); }, -0.5f, 4.5f, 0, 0},
      {"pow(x, 2)", [](double x) { return x * x; }, -50, 50, 1e-6, 0},
      {"pow(x, 2.5)", [](double x) { return std::pow(x, 2.5); }, 0, 50, 1e-6, 0},
      {"-x", [](double x) { return -x; }, -50, 50, 0, 0},
  };
  for_each_device([&](Device device) {
    for (const Case& c : cases) {
      INFO(std::string(c.text));
      Tensor x = random_tensor({10007}, 7, device, c.low, c.high);
      Doubles expected = doubles(x);
      for (double& v : expected) v = c.reference(v);
      check_close(elementwise(c.text, {{"x", x}}), expected, c.relative, c.absolute);
    }
  });
}

TEST_CASE("elementwise: infinities, NaN and zeros") {
  for_each_device([](Device device) {
    Tensor x = Tensor::from(
        {0.0f, -0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, kNan, 120.0f, -120.0f}, {9}, device);
    auto check = [&](const char* text, Doubles expected) {
      INFO(std::string(text));
      check_close(elementwise(text, {{"x", x}}), expected, 3e-7, 1e-37);
    };
    const double e = std::exp(1.0), s = 1 / (1 + 1 / e), inf = kInfinity, nan = kNan;
    check("exp(x)", {1, 1, e, 1 / e, inf, 0, nan, inf, 0});
    check("log(x)", {-inf, -inf, 0, nan, inf, nan, nan, std::log(120.0), nan});
    check("tanh(x)", {0, 0, std::tanh(1), -std::tanh(1), 1, -1, nan, 1, -1});
    check("sigmoid(x)", {0.5, 0.5, s, 1 - s, 1, 0, nan, 1, 0});
    check("sqrt(x)", {0, 0, 1, nan, inf, nan, nan, std::sqrt(120.0), nan});
    check("sign(x)", {0, 0, 1, -1, 1, -1, nan, 1, -1});
    check("isnan(x)", {0, 0, 0, 0, 0, 0, 1, 0, 0});
    check("abs(x)", {0, 0, 1, 1, inf, inf, nan, 120, 120});
    check("max(x, 0)", {0, 0, 1, 0, inf, 0, nan, 120, 0});
    check("min(0, x)", {0, 0, 0, -1, 0, -inf, nan, 0, -120});
    check("x == x", {1, 1, 1, 1, 1, 1, 0, 1, 1});
    check("x != x", {0, 0, 0, 0, 0, 0, 1, 0, 0});
    check("x >= 0", {1, 1, 1, 0, 1, 0, 0, 1, 0});
    check("x < 0", {0, 0, 0, 1, 0, 1, 0, 0, 1});
    check("x > 0 ? 1 : x <= 0 ? 2 : 3", {2, 2, 1, 2, 1, 2, 3, 1, 2});
    check("sin(x)",
          {0, 0, std::sin(1), -std::sin(1), nan, nan, nan, std::sin(120.0), -std::sin(120.0)});
  });
}

TEST_CASE("elementwise: scalars, constants and results without tensors") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({1031}, 8, device), y = random_tensor({1031}, 9, device);
    check_close(elementwise("a*x + y", {{"a", 2.0f}, {"x", x}, {"y", y}}),
                broadcast(x, y, [](double p, double q) { return 2 * p + q; }), 1e-7, 2e-7);
    check_close(elementwise("(1 - b) * x + sqrt(b) * 1e-3", {{"b", 0.25f}, {"x", x}}),
                broadcast(x, y, [](double p, double) { return 0.75 * p + 0.0005; }), 1e-7, 1e-7);
    check_close(elementwise("x", {{"x", x}}), doubles(x), 0);
    check_close(elementwise("b ? x : y", {{"b", 1.0f}, {"x", x}, {"y", y}}), doubles(x), 0);
    check_close(elementwise("b ? 1 : y", {{"b", 0.0f}, {"y", y}}), doubles(y), 0);
    check_close(elementwise("x > 0 ? x : b", {{"b", 0.0f}, {"x", x}}),
                broadcast(x, y, [](double p, double) { return p > 0 ? p : 0; }), 0);
    Tensor filled({3, 2}, DType::f32, device);
    elementwise_into(filled, "a + 1", {{"a", 2.0f}});
    check_close(filled, Doubles(6, 3), 0);
  });
  CHECK(elementwise("1 + 2*3 - 8/4", {})() == 5);
  CHECK(elementwise("-2 - -3", {})() == 1);
  CHECK(elementwise("1 < 2 == 1", {})() == 1);
  CHECK(elementwise("0 ? 1 : 0 ? 2 : 3", {})() == 3);
}

TEST_CASE("elementwise: results may be in place of an input") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({3001}, 10, device), y = random_tensor({3001}, 11, device);
    Doubles expected = broadcast(x, y, [](double p, double q) { return p * p - q; });
    elementwise_into(x, "x*x - y", {{"x", x}, {"y", y}});
    check_close(x, expected, 2e-7, 1e-7);
  });
}

TEST_CASE("update: optimizers in one pass; right sides read the values assigned before") {
  for_each_device([](Device device) {
    for (int64_t n : {1, 5, 1024, 5003}) {
      Tensor w = random_tensor({n}, 12, device), v = random_tensor({n}, 13, device),
             g = random_tensor({n}, 14, device);
      Doubles ws = doubles(w), vs = doubles(v), gs = doubles(g);
      for (size_t i = 0; i < ws.size(); ++i) {
        vs[i] = 0.9 * vs[i] - 0.1 * gs[i];
        ws[i] += vs[i];
      }
      update("v = m*v - lr*g; w = w + v",
             {{"w", w}, {"v", v}, {"g", g}, {"m", 0.9f}, {"lr", 0.1f}});
      check_close(v, vs, 1e-6, 1e-7);
      check_close(w, ws, 1e-6, 2e-7);
    }
  });
}

TEST_CASE("update: a value is read before it is overwritten") {
  for_each_device([](Device device) {
    auto fresh = [&](uint64_t seed) { return random_tensor({2050}, seed, device); };
    Tensor a = fresh(15), b = fresh(16), t = fresh(17);
    Doubles as = doubles(a), bs = doubles(b);
    update("t = a; a = b; b = t", {{"a", a}, {"b", b}, {"t", t}});
    check_close(a, bs, 0);
    check_close(b, as, 0);
    check_close(t, as, 0);
    update("t = a; a = 2*a; b = b + t", {{"a", a}, {"b", b}, {"t", t}});
    check_close(t, bs, 0);
    for (size_t i = 0; i < as.size(); ++i) {
      as[i] += bs[i];
      bs[i] *= 2;
    }
    check_close(a, bs, 1e-7);
    check_close(b, as, 1e-7, 1e-7);
    update("a = 1; a = a + 1; b = a; t = b > 1 ? a : t;", {{"a", a}, {"b", b}, {"t", t}});
    check_close(a, Doubles(2050, 2), 0);
    check_close(b, Doubles(2050, 2), 0);
    check_close(t, Doubles(2050, 2), 0);
  });
}

TEST_CASE("update: results without inputs are on one device") {
  for_each_device([](Device device) {
    Tensor a({3}, DType::f32, device), b({3}, DType::f32, device), c({3});
    update("a = 1; b = 2", {{"a", a}, {"b", b}});
    check_close(b, Doubles(3, 2), 0);
    if (!device.is_cpu()) CHECK_THROWS_AS(update("a = 1; c = 2", {{"a", a}, {"c", c}}), ShapeError);
  });
}

TEST_CASE("update: broadcasts into its results") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({5, 7}, 18, device), row = random_tensor({7}, 19, device);
    Doubles expected = broadcast(x, row, std::plus<>());
    update("x = x + r", {{"x", x}, {"r", row}});
    check_close(x, expected, 1e-7);
  });
}

TEST_CASE("elementwise: invalid calls are errors with a reason") {
  Tensor x({2, 3}), y({4}), integers({3}, DType::i32), part = Tensor({10}).slice(0, 1, 8);
  CHECK_THROWS_WITH_AS(add(x, y).eval(),
                       "[elementwise] expected shapes that broadcast together, got [2, 3] and [4]",
                       ShapeError);
  CHECK_THROWS_WITH_AS(elementwise("x + z", {{"x", x}}),
                       "[elementwise] expected every name of 'x + z' bound, got none for 'z'",
                       ShapeError);
  CHECK_THROWS_WITH_AS(
      elementwise_into(integers, "x + 0.5", {{"x", integers}}),
      "[elementwise] the type of 'x + 0.5' does not fit its output: expected i32, got f32",
      ShapeError);
  CHECK_THROWS_WITH_AS(elementwise("x & 1", {{"x", x}}),
                       "[elementwise] an operator of 'x & 1' is for integers: expected i32, u8 or "
                       "bool, got f32",
                       ShapeError);
  CHECK_THROWS_AS(elementwise("x", {{"x", Tensor()}}), ShapeError);
  CHECK_THROWS_AS(elementwise("x = x", {{"x", x}}), ShapeError);
  CHECK_THROWS_AS(update("x + x", {{"x", x}}), ShapeError);
  CHECK_THROWS_AS(elementwise("x", {{"x", x}, {"x", y}}), ShapeError);
  Tensor small({3});
  CHECK_THROWS_AS(elementwise_into(small, "x", {{"x", x}}), ShapeError);
  Tensor turned = Tensor({3, 2}).transpose();
  CHECK_THROWS_AS(elementwise_into(turned, "x", {{"x", x}}), ShapeError);
  Tensor whole({10});
  Tensor front = whole.slice(0, 0, 8), back = whole.slice(0, 1, 8);
  CHECK_THROWS_AS(elementwise_into(front, "b", {{"b", back}}), ShapeError);
  Tensor square({3, 3});
  CHECK_THROWS_AS(elementwise_into(square, "b", {{"b", square.transpose()}}), ShapeError);
  CHECK_THROWS_AS(elementwise_into(square, "s + b", {{"s", square}, {"b", square.slice(0, 0, 1)}}),
                  ShapeError);
}

TEST_CASE("elementwise: the number of threads does not change the result") {
  Tensor x = random_tensor({300007}, 20), y = random_tensor({300007}, 21);
  auto run = [&] { return elementwise("exp(x)*y + sin(y)", {{"x", x}, {"y", y}}).to_vector(); };
  set_thread_count(1);
  auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
}
