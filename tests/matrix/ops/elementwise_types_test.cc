// SPDX-License-Identifier: MIT
// Every operator and function of expressions, on every type, against NumPy's results in
// numpy/elementwise.txt. numpy/elementwise.py makes that file.
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/lazy.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

struct NumpyCase {
  std::string expression;
  DType result;
  double tolerance;
  Doubles expected;
};
/// Types and values of the operands, as text.
struct NumpyOperands {
  std::string types, x, y;
  bool operator<(const NumpyOperands& other) const {
    return std::tie(types, x, y) < std::tie(other.types, other.x, other.y);
  }
};
using NumpyTable = std::map<NumpyOperands, std::vector<NumpyCase>>;

DType type_named(std::string_view name) {
  for (DType type : {DType::f32, DType::i32, DType::u8, DType::boolean})
    if (dtype_name(type) == name) return type;
  FAIL("no type");
  return DType::f32;
}

Doubles numbers_in(const std::string& text) {
  Doubles values;
  std::istringstream in(text);
  for (std::string word; in >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
  return values;
}

const NumpyTable& numpy_table() {
  static const NumpyTable table = [] {
    NumpyTable result;
    std::ifstream file(test::source_dir() + "/tests/matrix/ops/numpy/elementwise.txt");
    for (std::string line; std::getline(file, line);) {
      std::vector<std::string> field(1);
      for (size_t i = 0; i < line.size(); ++i) {
        // "||" is an operator, and a field is never empty before the last but one.
        const bool ends = line[i] == '|' && field.size() > 1;
        const bool ends_first =
            line[i] == '|' && field.size() == 1 &&
            (line.compare(i, 4, "|f32") == 0 || line.compare(i, 4, "|i32") == 0 ||
             line.compare(i, 3, "|u8") == 0 || line.compare(i, 5, "|bool") == 0);
        if (ends || ends_first)
          field.emplace_back();
        else
          field.back() += line[i];
      }
      REQUIRE(field.size() == 7);
      const DType type = type_named(field[2]);
      Doubles expected = numbers_in(field[6]);
      if (type == DType::f32)
        for (double& v : expected) v = static_cast<float>(v);
      result[{field[1], field[4], field[5]}].push_back(
          {field[0], type, std::stod(field[3]), expected});
    }
    return result;
  }();
  return table;
}

template <class T>
Tensor tensor_as(const Doubles& values, const Shape& shape, Device device) {
  Tensor t(shape, DTypeOf<T>::value, device);
  std::transform(values.begin(), values.end(), t.overwrite<T>(),
                 [](double v) { return static_cast<T>(v); });
  return t;
}

Tensor tensor_of(const Doubles& values, DType type, const Shape& shape, Device device) {
  switch (type) {
    case DType::f32:
      return tensor_as<float>(values, shape, device);
    case DType::f64:
      return tensor_as<double>(values, shape, device);
    case DType::i32:
      return tensor_as<int32_t>(values, shape, device);
    case DType::u8:
      return tensor_as<uint8_t>(values, shape, device);
    case DType::boolean:
      break;
  }
  return tensor_as<bool>(values, shape, device);
}

/// x as [n, 1], and y as [m] if there is one.
std::vector<Binding> bound(const NumpyOperands& operands, Device device) {
  const size_t space = operands.types.find(' ');
  const Doubles x = numbers_in(operands.x), y = numbers_in(operands.y);
  std::vector<Binding> bindings{{"x", tensor_of(x, type_named(operands.types.substr(0, space)),
                                                {static_cast<int64_t>(x.size()), 1}, device)}};
  if (!y.empty())
    bindings.emplace_back("y", tensor_of(y, type_named(operands.types.substr(space + 1)),
                                         {static_cast<int64_t>(y.size())}, device));
  return bindings;
}

/// A device may flush results below the smallest normal float to 0.
constexpr double kSubnormal = 1.2e-38;

void check_case(const NumpyCase& c, const Tensor& result) {
  INFO(c.expression);
  check_close(result, c.expected, c.tolerance, c.result == DType::f32 ? kSubnormal : 0);
}

}  // namespace

TEST_CASE("elementwise: types and results are NumPy's") {
  int count = 0;
  for (const auto& entry : numpy_table()) {
    const auto& operands = entry.first;
    const auto& cases = entry.second;
    CAPTURE(operands.types);
    const std::vector<Binding> bindings = bound(operands, Device::cpu());
    for (const NumpyCase& c : cases) {
      const Tensor result = elementwise(c.expression, bindings);
      CHECK_MESSAGE(result.dtype() == c.result, c.expression);
      check_case(c, result);
      count += static_cast<int>(c.expected.size());
    }
  }
  CHECK(count >= 30000);
}

TEST_CASE("update: every device computes NumPy's results, with and without broadcasting") {
  for_each_device([](Device device) {
    for (const auto& entry : numpy_table()) {
      const auto& operands = entry.first;
      const auto& cases = entry.second;
      CAPTURE(operands.types);
      for (bool broadcast : {true, false}) {
        std::vector<Binding> bindings = bound(operands, device);
        Shape shape;
        for (auto& [name, value] : bindings)
          shape = broadcast_shapes(shape, std::get<Tensor>(value).shape(), "test");
        if (!broadcast)
          for (auto& [name, value] : bindings)
            value = std::get<Tensor>(value).broadcast_to(shape).clone();
        std::vector<std::string> names;
        for (size_t i = 0; i < cases.size(); ++i) names.push_back("r" + std::to_string(i));
        std::string statements;
        for (size_t i = 0; i < cases.size(); ++i) {
          bindings.emplace_back(names[i], Tensor(shape, cases[i].result, device));
          statements += names[i] + " = " + cases[i].expression + ";";
        }
        update(statements, bindings);
        for (size_t i = 0; i < cases.size(); ++i)
          check_case(cases[i],
                     std::get<Tensor>(bindings[bindings.size() - cases.size() + i].second));
      }
    }
  });
}

TEST_CASE("elementwise: every type on lengths around the vector and the block") {
  for_each_device([](Device device) {
    for (int64_t n : {0, 1, 3, 17, 1023, 1025, 2051}) {
      CAPTURE(n);
      Doubles small(static_cast<size_t>(n)), wide = small, expected_u8 = small,
                                             expected_i32 = small, expected_f32 = small;
      for (size_t i = 0; i < small.size(); ++i) {
        small[i] = static_cast<double>(i % 251);
        wide[i] = static_cast<double>(i) * 1000 - 500000;
        expected_u8[i] = static_cast<double>((i % 251 * 3 + 7) % 256);
        expected_i32[i] = small[i] + wide[i] > 0 ? wide[i] : -small[i];
        expected_f32[i] = small[i] * 0.5;
      }
      const Tensor u = tensor_as<uint8_t>(small, {n}, device),
                   w = tensor_as<int32_t>(wide, {n}, device);
      check_close(elementwise("u * 3 + k", {{"u", u}, {"k", 7}}), expected_u8, 0);
      check_close(elementwise("u + w > 0 ? w : -i32(u)", {{"u", u}, {"w", w}}), expected_i32, 0);
      check_close(elementwise("u * h", {{"u", u}, {"h", 0.5f}}), expected_f32, 0);
      CHECK(elementwise("u > 100", {{"u", u}}).dtype() == DType::boolean);
    }
  });
}

TEST_CASE("elementwise: integer results in place of an input") {
  for_each_device([](Device device) {
    Tensor x = tensor_as<int32_t>({1, -2, 2147483647}, {3}, device);
    elementwise_into(x, "x + x * k", {{"x", x}, {"k", 2}});
    check_close(x, {3, -6, 2147483645}, 0);
    Tensor b = tensor_as<uint8_t>({1, 200, 255}, {3}, device);
    update("x = x - b; b = b + 1", {{"x", x}, {"b", b}});
    check_close(x, {2, -206, 2147483390}, 0);
    check_close(b, {2, 201, 0}, 0);
    CHECK_THROWS_AS(elementwise_into(b, "b + k", {{"b", b}, {"k", 256}}), ShapeError);
    Tensor bits = x.reinterpret(DType::f32);
    CHECK_THROWS_AS(elementwise_into(bits, "x", {{"x", x}}), ShapeError);
  });
}

TEST_CASE("cast: converts to every type and keeps a tensor of that type") {
  for_each_device([](Device device) {
    const Tensor x = Tensor::from({-1.5f, 0, 0.5f, 255.9f, 300, 3e9f}, {6}, device);
    CHECK(cast(x, DType::f32).shares_storage_with(x));
    check_close(cast(x, DType::i32), {-1, 0, 0, 255, 300, 2147483647}, 0);
    check_close(cast(x, DType::u8), {0, 0, 0, 255, 255, 255}, 0);
    check_close(cast(x, DType::boolean), {1, 0, 1, 1, 1, 1}, 0);
    check_close(cast(cast(x, DType::i32), DType::u8), {255, 0, 0, 255, 44, 255}, 0);
    CHECK(cast(Tensor({0, 3}, DType::f32, device), DType::u8).shape() == Shape{0, 3});
  });
  CHECK_THROWS_AS(cast(Tensor(), DType::f32), ShapeError);
}

TEST_CASE("cast: f64, and no other operation of it") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const std::vector<double> values = {-1.5, 0, 0.5, 255.9, 300, 3e9, -3e9, 1e300, NAN, INFINITY};
    const Tensor x = Tensor::from(std::span<const double>(values), {2, 5}, device);
    CHECK(cast(x, DType::f64).shares_storage_with(x));
    const std::vector<float> f = cast(x, DType::f32).to_vector();
    for (size_t i = 0; i < values.size(); ++i)
      CHECK((std::isnan(values[i]) ? std::isnan(f[i]) : f[i] == static_cast<float>(values[i])));
    CHECK(cast(x, DType::i32).to_vector<int32_t>() ==
          std::vector<int32_t>{-1, 0, 0, 255, 300, 2147483647, -2147483647 - 1, 2147483647, 0,
                               2147483647});
    CHECK(cast(x, DType::u8).to_vector<uint8_t>() ==
          std::vector<uint8_t>{0, 0, 0, 255, 255, 255, 0, 255, 0, 255});
    check_close(cast(x, DType::boolean), {1, 0, 1, 1, 1, 1, 1, 1, 1, 1}, 0);
    const Tensor whole = tensor_as<int32_t>({1, -2, 2147483647}, {3}, device);
    CHECK(cast(whole, DType::f64).to_vector<double>() == std::vector<double>{1, -2, 2147483647});
    CHECK(cast(x.transpose(), DType::f32).to_vector()[1] == 3e9f);
    CHECK(cast(Tensor({0, 3}, DType::f64, device), DType::f32).shape() == Shape{0, 3});
    CHECK(x(1, -3) == 1e300);
    CHECK_THROWS_WITH_AS(elementwise("x + 1", {{"x", x}}), doctest::Contains("got f64"),
                         ShapeError);
    CHECK_THROWS_WITH_AS((x + x).eval(), doctest::Contains("got f64"), ShapeError);
  });
}
