// SPDX-License-Identifier: MIT
#include "nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/random.h"
#include "nn/layer_params.h"

namespace kaiseki::nn {

Initializer read_initializer(LayerParams& params) {
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
      random_normal(value, random, static_cast<float>(initializer.a),
                    static_cast<float>(initializer.b));
      return value;
    case Kind::uniform:
      random_uniform(value, random, static_cast<float>(initializer.a),
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
    random_uniform(value, random, -bound, bound);
  else
    random_normal(value, random, 0, static_cast<float>(std::sqrt(variance)));
  return value;
}

uint64_t random_stream(std::string_view name, uint32_t step) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return uint64_t{hash} << 32 | step;
}

}  // namespace kaiseki::nn
