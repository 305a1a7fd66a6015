// SPDX-License-Identifier: MIT
// Printed tensors against NumPy's text in numpy/print.txt, which numpy/print.py makes.
#include "matrix/ops/print.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

struct PrintCase {
  std::string type, values;
  Shape shape;
};

PrintCase print_case(const std::string& line) {
  std::istringstream in(line);
  std::string shape, values, type;
  std::getline(in, type, '|');
  std::getline(in, shape, '|');
  std::getline(in, values);
  PrintCase result{type, values, {}};
  std::istringstream dims(shape);
  for (int64_t dim; dims >> dim;) result.shape.push_back(dim);
  return result;
}

Tensor printed_tensor(const PrintCase& c, Device device) {
  std::vector<float> floats;
  std::vector<int32_t> integers;
  const bool is_float = c.type == "f32";
  if (c.values == "range") {
    for (int64_t i = 0; i < c.shape.elements(); ++i) {
      floats.push_back(static_cast<float>(i) * 0.5f);
      integers.push_back(static_cast<int32_t>(c.type == "bool" ? i % 2
                                              : c.type == "u8" ? i % 256
                                                               : i));
    }
  } else {
    std::istringstream in(c.values);
    for (std::string word; in >> word;) {
      floats.push_back(std::strtof(word.c_str(), nullptr));
      integers.push_back(is_float ? 0 : std::atoi(word.c_str()));
    }
  }
  if (is_float) return Tensor::from(std::span<const float>(floats), c.shape, device);
  const Tensor i = Tensor::from(std::span<const int32_t>(integers), c.shape, device);
  return cast(i, c.type == "bool" ? DType::boolean : c.type == "u8" ? DType::u8 : DType::i32);
}

}  // namespace

TEST_CASE("print: every text is NumPy's") {
  for_each_device([](Device device) {
    std::ifstream file(test::source_dir() + "/tests/matrix/ops/numpy/print.txt");
    int count = 0;
    for (std::string first; std::getline(file, first); ++count) {
      std::string expected;
      for (std::string line; std::getline(file, line) && line != "end";)
        expected += (expected.empty() ? "" : "\n") + line;
      CAPTURE(first);
      CHECK(to_string(printed_tensor(print_case(first), device)) == expected);
    }
    CHECK(count >= 150);
  });
}

TEST_CASE("print: f64 has the digits of a double") {
  const std::vector<double> values = {0.1, 123456789.25};
  CHECK(to_string(Tensor::from(std::span<const double>(values), {2}, Device::cpu())) ==
        "[1.00000000e-01 1.23456789e+08]");
  const std::vector<double> whole = {16777217, 2};
  CHECK(to_string(Tensor::from(std::span<const double>(whole), {2}, Device::cpu())) ==
        "[1.6777217e+07 2.0000000e+00]");
  const std::vector<double> far = {1e300, 1, -1e-300};
  CHECK(to_string(Tensor::from(std::span<const double>(far), {3}, Device::cpu())) ==
        "[ 1.e+300  1.e+000 -1.e-300]");
  const std::vector<double> one = {0.1234567890123456};
  CHECK(to_string(Tensor::from(std::span<const double>(one), {}, Device::cpu())) ==
        "0.1234567890123456");
}

TEST_CASE("print: views, options and undefined tensors") {
  const Tensor t = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  std::ostringstream out;
  out << t.transpose() << ' ' << Tensor();
  CHECK(out.str() == "[[1. 4.]\n [2. 5.]\n [3. 6.]] undefined");
  CHECK(to_string(t.slice(1, 1, 1)) == "[[2.]\n [5.]]");
  CHECK(to_string(Tensor::from({0.123456f, 2}, {2}), {.precision = 3}) == "[0.123 2.   ]");
  CHECK(to_string(t, {.threshold = 5, .edge_items = 1}) == "[[1. ... 3.]\n [4. ... 6.]]");
  CHECK(to_string(t, {.line_width = 6}) == "[[1.\n  2.\n  3.]\n [4.\n  5.\n  6.]]");
  CHECK_THROWS_AS(to_string(Tensor()), ShapeError);
}
