// SPDX-License-Identifier: MIT
#include "matrix/ops/lazy.h"

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

Tensor whole_numbers(std::vector<int32_t> values, Device device) {
  return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())},
                      device);
}

}  // namespace

TEST_CASE("operators: every one agrees with its expression") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({5, 7}, 1, device, 0.1f, 0.9f),
                 b = random_tensor({7}, 2, device, 0.1f, 0.9f);
    const Tensor i = whole_numbers({7, -8, 9, 2147483647}, device),
                 j = whole_numbers({3, 2, -4, 1}, device);
    const std::vector<Binding> reals{{"a", a}, {"b", b}}, integers{{"i", i}, {"j", j}};
    auto same = [&](const Tensor& actual, const char* text, const std::vector<Binding>& bindings) {
      CAPTURE(text);
      const Tensor expected = elementwise(text, bindings);
      CHECK(actual.dtype() == expected.dtype());
      CHECK(actual.shape() == expected.shape());
      check_close(actual, doubles(expected), 0);
    };
    same(a + b, "a + b", reals);
    same(a - b, "a - b", reals);
    same(a * b, "a * b", reals);
    same(a / b, "a / b", reals);
    same(a % b, "a % b", reals);
    same(-a, "-a", reals);
    same(2.0f * a - b / 3, "2.0 * a - b / 3", reals);
    same(a < b, "a < b", reals);
    same(a <= b, "a <= b", reals);
    same(a > b, "a > b", reals);
    same(a >= b, "a >= b", reals);
    same(a == b, "a == b", reals);
    same(a != b, "a != b", reals);
    same(a > 0.5f && b < 0.5, "a > 0.5 && b < 0.5", reals);
    same(a > 0.5f || !(b < 0.5), "a > 0.5 || !(b < 0.5)", reals);
    same(i & j, "i & j", integers);
    same(i | j, "i | j", integers);
    same(i ^ j, "i ^ j", integers);
    same(i << j, "i << j", integers);
    same(i >> 1, "i >> 1", integers);
    same(~i, "~i", integers);
    same(i + 2147483647, "i + 2147483647", integers);
    same(i * 3000000000, "i * 3000000000", integers);
    same(floor_divide(i, j), "i // j", integers);
    same(atan2(a, b), "atan2(a, b)", reals);
    same(fmod(a, b), "fmod(a, b)", reals);
    same(hypot(a, b), "hypot(a, b)", reals);
    same(pow(a, b), "pow(a, b)", reals);
    same(maximum(a, b), "max(a, b)", reals);
    same(minimum(a, 0.5), "min(a, 0.5)", reals);
    same(clamp(a, 0.25, b), "clamp(a, 0.25, b)", reals);
    same(where(a > b, a, 0), "a > b ? a : 0", reals);
    const std::pair<Lazy, const char*> functions[] = {
        {abs(a), "abs"},     {acos(a), "acos"},   {acosh(1 + a), "acosh"},   {asin(a), "asin"},
        {asinh(a), "asinh"}, {atan(a), "atan"},   {atanh(a), "atanh"},       {cbrt(a), "cbrt"},
        {ceil(a), "ceil"},   {cos(a), "cos"},     {cosh(a), "cosh"},         {erf(a), "erf"},
        {erfc(a), "erfc"},   {exp(a), "exp"},     {exp2(a), "exp2"},         {expm1(a), "expm1"},
        {floor(a), "floor"}, {isinf(a), "isinf"}, {isfinite(a), "isfinite"}, {isnan(a), "isnan"},
        {log(a), "log"},     {log10(a), "log10"}, {log1p(a), "log1p"},       {log2(a), "log2"},
        {round(a), "round"}, {rsqrt(a), "rsqrt"}, {sigmoid(a), "sigmoid"},   {sign(a), "sign"},
        {sin(a), "sin"},     {sinh(a), "sinh"},   {sqrt(a), "sqrt"},         {tan(a), "tan"},
        {tanh(a), "tanh"},   {trunc(a), "trunc"}};
    for (const auto& [lazy, name] : functions) {
      const bool shifted = std::string_view(name) == "acosh";
      same(lazy, (name + std::string(shifted ? "(1 + a)" : "(a)")).c_str(), reals);
    }
  });
}

TEST_CASE("operators: assignment computes in place, in views too") {
  for_each_device([](Device device) {
    Tensor a = random_tensor({4, 6}, 3, device), view = a.slice(1, 2, 3), alias = a;
    Doubles expected = doubles(a);
    a *= 2;
    a += a - 1;
    for (double& v : expected) v = 4 * v - 1;
    check_close(alias, expected, 1e-6, 3e-7);
    view -= alias.slice(1, 2, 3);  // the same elements
    for (size_t i = 0; i < expected.size(); ++i)
      if (i % 6 >= 2 && i % 6 < 5) expected[i] = 0;
    check_close(a, expected, 1e-6, 3e-7);
    Tensor n = whole_numbers({7, -7, 12}, device);
    n %= 4;
    n <<= 2;
    n |= 1;
    n ^= 5;
    n &= 13;
    n >>= 1;
    check_close(n, {4, 0, 2}, 0);
    CHECK_THROWS_AS(n /= 2, ShapeError);
    CHECK_THROWS_AS(n += 0.5, ShapeError);
    CHECK_THROWS_AS(a += Tensor({5}, DType::f32, device), ShapeError);
  });
}

TEST_CASE("lazy: a long chain is cut and stays right") {
  for_each_device([](Device device) {
    const Tensor a = Tensor::from({1, 2, 3}, {3}, device);
    Lazy sum = a, chain = a;
    for (int i = 0; i < 300; ++i) {
      sum = sum + a;
      chain = -chain;
    }
    check_close(sum.eval(), {301, 602, 903}, 0);
    check_close(chain.eval(), {1, 2, 3}, 0);
    Lazy square = a;
    for (int i = 0; i < 12; ++i) square = square + square;
    check_close(square.eval(), {4096, 8192, 12288}, 0);
  });
}

TEST_CASE("lazy: equal parts and tensors are one value; scalars are bound") {
  const Tensor a = Tensor::from({1, 2, 3}, {3}), b = a;
  const Lazy part = exp(a);
  check_close((part + part * part).eval(),
              {std::exp(1) + std::exp(2), std::exp(2) + std::exp(4), std::exp(3) + std::exp(6)},
              1e-6);
  check_close((a + b).eval(), {2, 4, 6}, 0);
  CHECK(Lazy(a).eval().shares_storage_with(a));
  CHECK((Lazy(2) + 3).eval()() == 5);
  CHECK(sum(a * b).item() == 14);
  CHECK_THROWS_AS((a + Tensor()).eval(), ShapeError);
  CHECK_THROWS_AS((a + Tensor({2})).eval(), ShapeError);
}

TEST_CASE("lazy: a chain of operators is one kernel") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    const Tensor a = random_tensor({37, 41}, 1, device), b = random_tensor({37, 41}, 2, device);
    auto kernels = [&](const auto& compute) {
      const uint64_t before = device.backend().queued_kernels();
      const Tensor result = compute();
      CHECK(result.shape() == a.shape());
      return device.backend().queued_kernels() - before;
    };
    CHECK(kernels([&]() -> Tensor { return 2.0f * a + b; }) == 1);
    CHECK(kernels([&]() -> Tensor { return sqrt(abs(2.0f * a - b / 4 + a * a)); }) == 1);
    CHECK(kernels([&]() -> Tensor { return where(a > b, a, exp(b)); }) == 1);
    CHECK(kernels([&]() -> Tensor { return add(multiply(a, a), b); }) == 1);
    CHECK(kernels([&]() -> Tensor { return divide(subtract(a, b), 2); }) == 1);
  });
}

TEST_CASE("lazy: reads its tensors when it is converted") {
  Tensor a = Tensor::from({1, 2}, {2});
  const Lazy later = a + 1;
  const Tensor now = later;
  a *= 10;
  check_close(now, {2, 3}, 0);
  check_close(later.eval(), {11, 21}, 0);
}

TEST_CASE("tensor: elements by index and nested lists") {
  const Tensor t{{1, 2, 3}, {4, 5, 6}};
  CHECK(t.shape() == Shape{2, 3});
  CHECK(t(1, 2) == 6);
  CHECK(t(-1, -3) == 4);
  CHECK(t.transpose()(2, 0) == 3);
  CHECK(Tensor{{1, 2}}.shape() == Shape{1, 2});
  CHECK_THROWS_AS((Tensor{{1, 2}, {3}}), ShapeError);
  CHECK_THROWS_WITH_AS(t(2, 0), "[element] expected an index from -2 to 1 of axis 0, got 2",
                       ShapeError);
  CHECK_THROWS_AS(t(0), ShapeError);
  CHECK_THROWS_AS(Tensor()(), ShapeError);
  for_each_device([](Device device) {
    const Tensor i = whole_numbers({7, 2147483647}, device);
    CHECK(i(1) == 2147483647);
    CHECK(i.slice(0, 1, 1)(0) == 2147483647);
    CHECK((i == 7).eval()(0) == 1);
  });
}
