// SPDX-License-Identifier: MIT
#include "nn/io/csv.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/nn/io/damage.h"
#include "tests/support/folder.h"

using namespace kaiseki;
using namespace kaiseki::nn;

TEST_CASE("csv: every separator, line end and form of a number") {
  for (const char* text :
       {"1,2.5,-3e2\r\n4,+5,6\r\n", "1;2.5;-3e2\n\n4;5;6", "1\t2.5\t-300\n4\t5\t6\n",
        "  1 2.5   -300 \n4 5  6\n", " 1 , 2.5 , -300 \n4,5,6\n"}) {
    INFO(text);
    const Tensor x = parse_csv(text);
    CHECK(x.shape() == Shape{2, 3});
    CHECK(x.to_vector() == std::vector<float>{1, 2.5, -300, 4, 5, 6});
  }
  CHECK(parse_csv("").shape() == Shape{0, 0});
  CHECK(parse_csv("7").shape() == Shape{1, 1});
  const std::vector<float> special = parse_csv("nan,inf,-inf").to_vector();
  CHECK(std::isnan(special[0]));
  CHECK(special[1] == std::numeric_limits<float>::infinity());
  CHECK(parse_csv("1e-400,-1e-400,1e-300").to_vector() == std::vector<float>{0, 0, 0});
}

TEST_CASE("csv: reads what it writes, to the last bit") {
  test::Folder folder;
  std::vector<float> values = {0.1f, -1e-30f, 3.4028235e38f, 1.0f / 3, -0.0f, 1e-45f};
  const Tensor x = Tensor::from(std::span<const float>(values), {2, 3}, Device::cpu());
  write_csv(folder.path / "x.csv", x.transpose());
  const Tensor read = read_csv(folder.path / "x.csv");
  CHECK(read.shape() == Shape{3, 2});
  CHECK(read.transpose().contiguous().to_vector() == values);
  const uint8_t bytes[] = {0, 255};
  CHECK(format_csv(Tensor::from(std::span<const uint8_t>(bytes), {1, 2}, Device::cpu())) ==
        "0,255\r\n");
  const bool flags[] = {true, false};
  CHECK(format_csv(Tensor::from(std::span<const bool>(flags), {2}, Device::cpu())) == "1\r\n0\r\n");
  const int32_t numbers[] = {-2147483647 - 1};
  CHECK(format_csv(Tensor::from(std::span<const int32_t>(numbers), {1}, Device::cpu())) ==
        "-2147483648\r\n");
  CHECK_THROWS_AS(format_csv(Tensor({1, 1, 1})), ShapeError);
}

TEST_CASE("csv: errors name the line and the column") {
  auto error = [](std::string_view text) {
    return test::parse_error([&] { parse_csv(text, "x.csv"); });
  };
  CHECK(error("1,2\n3,x\n") == "x.csv: line 2, column 2: expected a number, got 'x'");
  CHECK(error("1,2\n\n3\n").find("line 3") != std::string::npos);
  CHECK(error("1,,2").find("column 2: expected a number, got ''") != std::string::npos);
  CHECK(error("1,2,").find("column 3") != std::string::npos);
  CHECK(error("1e39").find("32 bits") != std::string::npos);
  CHECK(error("1 2,3").find("got '1 2'") != std::string::npos);
  CHECK(error("1\t2\t\n\t3\t4\n").find("line 1, column 3") != std::string::npos);
  CHECK(error("+-1").find("a number") != std::string::npos);
}
