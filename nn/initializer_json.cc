// SPDX-License-Identifier: MIT
#include "nn/initializer_json.h"

namespace kaiseki::nn {
namespace {

Initializer read(LayerParams& params) {
  using Kind = Initializer::Kind;
  constexpr double kHuge = 1e30;
  const std::string type =
      params.choice("type", "he", {"constant", "normal", "uniform", "xavier", "he", "lecun"});
  Initializer result;
  if (type == "constant") {
    result.a = params.number("value", 0, -kHuge, kHuge);
  } else if (type == "normal") {
    result.kind = Kind::normal;
    result.a = params.number("mean", 0, -kHuge, kHuge);
    result.b = params.number("deviation", 0.01, 0, kHuge);
  } else if (type == "uniform") {
    result.kind = Kind::uniform;
    result.a = params.number("low", -0.05, -kHuge, kHuge);
    result.b = params.number("high", 0.05, result.a, kHuge);
  } else {
    result.kind = type == "xavier" ? Kind::xavier : type == "he" ? Kind::he : Kind::lecun;
    result.from_uniform = params.choice("distribution", type == "xavier" ? "uniform" : "normal",
                                        {"uniform", "normal"}) == "uniform";
  }
  return result;
}

}  // namespace

Initializer read_initializer(LayerParams& params, std::string_view key,
                             const std::optional<Initializer>& otherwise) {
  constexpr std::string_view expected = "the name of an initializer or an object";
  const Json* value = params.value(key, !otherwise, expected);
  if (!value) return *otherwise;
  Json object = Json::object();
  if (value->is(Json::Kind::string))
    object.set("type", *value);
  else if (value->is(Json::Kind::object))
    object = *value;
  else
    params.fail(key, expected, value->describe());
  LayerParams fields = params.nested(key, object);
  const Initializer result = read(fields);
  fields.finish();
  return result;
}

}  // namespace kaiseki::nn
