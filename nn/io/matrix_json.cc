// SPDX-License-Identifier: MIT
#include "nn/io/matrix_json.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "nn/io/tensor_bytes.h"

namespace kaiseki::nn {
namespace {

constexpr double kMostRows = 1 << 30;

const Json& member(const Json& object, std::string_view key, Json::Kind kind,
                   std::string_view source) {
  const Json* value = object.find(key);
  if (!value || !value->is(kind))
    throw ParseError(source, key,
                     "expected a member of this name with the right type, got " +
                         (value ? value->describe() : std::string("none")));
  return *value;
}

int64_t length(const Json& object, std::string_view key, std::string_view source) {
  const Json& value = member(object, key, Json::Kind::number, source);
  if (!value.is_integer() || value.number < 0 || value.number > kMostRows)
    throw ParseError(source, key, "expected an integer from 0 to 2^30, got " + value.describe());
  return static_cast<int64_t>(value.number);
}

}  // namespace

Tensor parse_matrix_json(std::string_view text, std::string_view source) {
  const Json json = parse_json(text, source);
  const int64_t rows = length(json, "rows", source), columns = length(json, "cols", source);
  const ByteVector bytes =
      decode_base64(member(json, "data", Json::Kind::string, source).string, source);
  const bool by_rows = member(json, "row_wise", Json::Kind::boolean, source).boolean;
  const Shape shape = by_rows ? Shape{rows, columns} : Shape{columns, rows};
  if (bytes.size() != static_cast<uint64_t>(shape.elements()) * sizeof(float))
    throw ParseError(source, "data",
                     "expected " + std::to_string(shape.elements()) + " numbers of 4 bytes, got " +
                         std::to_string(bytes.size()) + " bytes");
  MemorySource elements(bytes, std::string(source));
  const Tensor stored = read_elements(elements, shape, DType::f32);
  return by_rows ? stored : stored.transpose().contiguous();
}

std::string format_matrix_json(const Tensor& matrix) {
  require(matrix.defined() && matrix.rank() == 2 && matrix.dtype() == DType::f32, "matrix_json",
          "expected a matrix of f32");
  const Tensor host = for_file(matrix);
  Json json = Json::object();
  json.set("rows", host.dim(0)).set("cols", host.dim(1));
  json.set("data", encode_base64(bytes_of(host))).set("row_wise", true);
  return format_json_line(json);
}

}  // namespace kaiseki::nn
