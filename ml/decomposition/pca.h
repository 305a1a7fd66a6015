// SPDX-License-Identifier: MIT
// Principal component analysis.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "ml/decomposition/projection.h"

namespace kaiseki::ml {

class Archive;

/// `automatic` is `full` up to 500 samples and features, for a ratio, and if 80 % of the components
/// are necessary. On the CPU it is also `full`, of f32 products, if that is faster. Otherwise it is
/// `randomized`.
enum class PcaSolver : uint8_t { automatic, full, randomized };

/// Nothing: all min(n, features). An integer: this number. A double between 0 and 1: as many as are
/// necessary for more than this part of the variance.
using ComponentCount = std::variant<std::monostate, int64_t, double>;

struct PCAOptions {
  ComponentCount n_components = {};
  bool whiten = false;  // transform() gives variance 1 in each component
  PcaSolver solver = PcaSolver::automatic;
  // Power iterations of the randomized solver. Default: 7 for less than 10 % of the components,
  // else 4.
  std::optional<int64_t> iterated_power = {};
  int64_t n_oversamples = 10;  // more random vectors than components
  uint64_t seed = 0;           // of the randomized solver
};

/// Projects samples to the axes of their largest variance. The element of each axis with the
/// largest magnitude is positive. Products run on the device of x. Decompositions run on the CPU in
/// f64. x is not copied, except if it has fewer samples than features and the solver is `full`.
class PCA {
 public:
  /// Throws Error for a setting out of range.
  explicit PCA(PCAOptions options = {});

  /// x: f32 [n, features], n >= 2. Throws ShapeError for the shape, or for NaN and infinity.
  void fit(const Tensor& x);
  /// f32 [n, n_components]. If `whiten` is set, a component without variance becomes 0.
  Tensor transform(const Tensor& x) const;
  Tensor fit_transform(const Tensor& x);
  /// f32 [n, features] from f32 [n, n_components].
  Tensor inverse_transform(const Tensor& z) const;

  // These throw ShapeError before fit().
  const Tensor& components() const;          // f32 [n_components, features]
  const Tensor& explained_variance() const;  // f32 [n_components], with n - 1 as divisor
  const Tensor& explained_variance_ratio()
      const;                              // f32 [n_components], parts of the whole variance
  const Tensor& singular_values() const;  // f32 [n_components], of x - mean
  const Tensor& mean() const;             // f32 [features]
  double noise_variance() const;          // the mean variance of the other components
  int64_t n_components() const;
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  const Projection& fitted() const;

  PCAOptions options_;
  Projection projection_;
};

}  // namespace kaiseki::ml
