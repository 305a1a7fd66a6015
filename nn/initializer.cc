// SPDX-License-Identifier: MIT
#include "nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "matrix/ops/random.h"

namespace kaiseki::nn {

Json to_json(const Initializer& initializer) {
  using Kind = Initializer::Kind;
  constexpr const char* kNames[] = {"constant", "normal", "uniform", "xavier", "he", "lecun"};
  Json json = Json::object();
  json.set("type", kNames[static_cast<size_t>(initializer.kind)]);
  if (initializer.kind == Kind::constant) return json.set("value", initializer.a);
  if (initializer.kind == Kind::normal)
    return json.set("mean", initializer.a).set("deviation", initializer.b);
  if (initializer.kind == Kind::uniform)
    return json.set("low", initializer.a).set("high", initializer.b);
  return json.set("distribution", initializer.from_uniform ? "uniform" : "normal");
}

Tensor draw(const Initializer& initializer, const Shape& shape, int64_t fan_in, int64_t fan_out,
            Random random) {
  using Kind = Initializer::Kind;
  Tensor value(shape, DType::f32, Device::cpu());
  const double in = static_cast<double>(std::max<int64_t>(1, fan_in));
  const double out = static_cast<double>(std::max<int64_t>(1, fan_out));
  double variance = 0;
  switch (initializer.kind) {
    case Kind::constant: {
      float* to = value.overwrite<float>();
      std::fill(to, to + value.size(), static_cast<float>(initializer.a));
      return value;
    }
    case Kind::normal:
      random_normal_into(value, random, static_cast<float>(initializer.a),
                         static_cast<float>(initializer.b));
      return value;
    case Kind::uniform:
      random_uniform_into(value, random, static_cast<float>(initializer.a),
                          static_cast<float>(initializer.b));
      return value;
    case Kind::xavier:
      variance = 2 / (in + out);
      break;
    case Kind::he:
      variance = 2 / in;
      break;
    case Kind::lecun:
      variance = 1 / in;
      break;
  }
  const auto bound = static_cast<float>(std::sqrt(3 * variance));
  if (initializer.from_uniform)
    random_uniform_into(value, random, -bound, bound);
  else
    random_normal_into(value, random, 0, static_cast<float>(std::sqrt(variance)));
  return value;
}

uint64_t random_stream(std::string_view name, uint32_t step) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return uint64_t{hash} << 32 | step;
}

}  // namespace kaiseki::nn
