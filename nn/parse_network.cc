// SPDX-License-Identifier: MIT
#include "nn/parse_network.h"

#include "base/error.h"
#include "nn/onnx/onnx.h"

namespace kaiseki::nn {

bool begins_as_json(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '{' || text[first] == '[');
}

NetworkSpec parse_network(std::string_view text, std::string_view source) {
  if (is_onnx(as_bytes(text), source)) return read_onnx(as_bytes(text), source);
  if (text.empty()) throw ParseError(source, "byte 0", "the file is empty");
  if (!begins_as_json(text))
    throw ParseError(source, "byte 0", "the format is unknown: expected a network as JSON or ONNX");
  const Json document = parse_json(text, source);
  if (is_sukiyaki2(document)) return read_sukiyaki2_format(document, source);
  if (document.is(Json::Kind::array) || document.find("layer_params"))
    return read_sukiyaki_format(document, source);
  if (document.is(Json::Kind::object)) return read_own_format(document, source);
  throw ParseError(
      source, "line 1",
      "expected an object with \"layers\" or \"layer_params\", got " + document.describe());
}

}  // namespace kaiseki::nn
