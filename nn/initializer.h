// SPDX-License-Identifier: MIT
// Initializer: how the first values of a parameter are drawn.
#pragma once

#include <cstdint>
#include <string_view>

#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki::nn {

class LayerParams;

struct Initializer {
  enum class Kind : uint8_t { constant, normal, uniform, xavier, he, lecun };
  Kind kind = Kind::constant;
  /// constant: a; normal: mean a, deviation b; uniform: [a, b). The others scale with the fans:
  /// variance 2 / (in + out) for xavier (Glorot, Bengio 2010), 2 / in for he (He et al. 2015),
  /// 1 / in for lecun (LeCun et al. 1998, and Sukiyaki).
  double a = 0, b = 0;
  bool from_uniform = false;  // of the last three: uniform, not normal
};

/// From {"type": "he", "distribution": "uniform"}, {"type": "normal", "mean": 0, "deviation": 1}...
Initializer read_initializer(LayerParams& params);

/// A new tensor on the CPU; `random` is used for nothing else. The values depend on seed and stream
/// alone, so every device starts from the same ones.
Tensor draw(const Initializer& initializer, const Shape& shape, int64_t fan_in, int64_t fan_out,
            Random random);

/// The stream of random numbers for a name: its top half; step 0 is the initial draw.
uint64_t random_stream(std::string_view name, uint32_t step);

}  // namespace kaiseki::nn
