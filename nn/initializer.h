// SPDX-License-Identifier: MIT
// Initializer: how the first values of a parameter are computed.
#pragma once

#include <cstdint>
#include <string_view>

#include "matrix/random.h"
#include "matrix/tensor.h"

namespace kaiseki {
struct Json;
}  // namespace kaiseki

namespace kaiseki::nn {

struct Initializer {
  enum class Kind : uint8_t { constant, normal, uniform, xavier, he, lecun };
  Kind kind = Kind::constant;
  /// constant: a; normal: mean a, deviation b; uniform: [a, b). The others depend on the numbers of
  /// inputs and outputs (fans). Their variances are 2 / (in + out): xavier (Glorot, Bengio 2010);
  /// 2 / in: he (He et al. 2015); 1 / in: lecun (LeCun et al. 1998, and Sukiyaki).
  double a = 0, b = 0;
  bool from_uniform = false;  // xavier, he, lecun: uniform instead of normal distribution
};

/// {"type": "normal", "mean": 0, "deviation": 1}
Json to_json(const Initializer& initializer);

/// Returns a new tensor on the CPU. The values depend only on the seed and the stream of `random`,
/// so every device starts from the same values.
Tensor draw(const Initializer& initializer, const Shape& shape, int64_t fan_in, int64_t fan_out,
            Random random);

/// The stream of random numbers for a name and a step. Step 0 is the initialization.
uint64_t random_stream(std::string_view name, uint32_t step);

}  // namespace kaiseki::nn
