// SPDX-License-Identifier: MIT
#include "nn/io/matrix_json.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "base/error.h"
#include "tests/nn/io/damage.h"

using namespace kaiseki;
using namespace kaiseki::nn;

namespace {

void parse(ByteView bytes) { parse_matrix_json(as_text(bytes)); }

}  // namespace

TEST_CASE("matrix JSON: reads Sushi's matrices, by rows and by columns") {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const std::string data = encode_base64(std::as_bytes(std::span(values)));
  const std::string start = R"({"rows": 2, "cols": 3, "data": ")" + data + R"(", "row_wise": )";
  CHECK(parse_matrix_json(start + "true}").to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor columns = parse_matrix_json(start + "false}");
  CHECK(columns.shape() == Shape{2, 3});
  CHECK(columns.to_vector() == std::vector<float>{1, 3, 5, 2, 4, 6});
  const Tensor x = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, Device::cpu());
  CHECK(format_matrix_json(x) == start + "true}");
  CHECK(parse_matrix_json(format_matrix_json(Tensor({0, 4}))).shape() == Shape{0, 4});
}

TEST_CASE("matrix JSON: a damaged matrix throws ParseError") {
  const std::string good = format_matrix_json(Tensor::from({1, 2, 3, 4}, {2, 2}, Device::cpu()));
  test::check_truncated(parse, as_bytes(good));
  using test::refuses;
  CHECK(refuses(parse, as_bytes("[]"), "rows"));
  CHECK(refuses(parse, as_bytes(R"({"rows":-1,"cols":1,"data":"","row_wise":true})"), "rows"));
  CHECK(refuses(parse, as_bytes(R"({"rows":1,"cols":0.5,"data":"","row_wise":true})"), "cols"));
  CHECK(refuses(parse, as_bytes(R"({"rows":1,"cols":1e9,"data":"","row_wise":true})"), "data"));
  CHECK(refuses(parse, as_bytes(R"({"rows":1,"cols":1,"data":"","row_wise":1})"), "row_wise"));
  CHECK_THROWS_AS(format_matrix_json(Tensor({3})), ShapeError);
}
