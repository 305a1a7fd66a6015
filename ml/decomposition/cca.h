// SPDX-License-Identifier: MIT
// Canonical correlation analysis.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class Archive;

struct CCAOptions {
  int64_t n_components = 2;
  bool scale = true;  // divides each feature by its standard deviation
};

/// Finds directions of x and of y whose projections have the largest correlations. Gives the
/// weights of scikit-learn: PLS in its mode B. Each component uses the part of x and y that the
/// components before it do not explain. The covariances are read from x in blocks. All other work
/// runs on the CPU in f64.
class CCA {
 public:
  /// Throws Error for a setting out of range.
  explicit CCA(CCAOptions options = {});

  /// x: f32 [n, p], y: f32 [n, q] or [n], n >= 2. Requires n_components <= min(n, p, q). A feature
  /// without variance is kept without scaling. Throws ShapeError. Throws Error if the rest of x or
  /// y has no variance for another component.
  void fit(const Tensor& x, const Tensor& y);
  /// f32 [n, n_components]: the projections of x.
  Tensor transform(const Tensor& x) const;
  /// The projections of x and of y.
  struct Scores {
    Tensor x, y;
  };
  Scores transform(const Tensor& x, const Tensor& y) const;
  /// Predicts y by least squares on the projections of x: f32 [n, q], or [n] after fit() with [n].
  /// scikit-learn uses the loadings of y instead.
  Tensor predict(const Tensor& x) const;
  double score(const Tensor& x, const Tensor& y) const;  // R^2 of predict()
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

  // These throw ShapeError before fit(). Columns are components.
  const Tensor& x_weights() const;     // f32 [p, n_components]
  const Tensor& y_weights() const;     // f32 [q, n_components]
  const Tensor& x_loadings() const;    // f32 [p, n_components]
  const Tensor& y_loadings() const;    // f32 [q, n_components]
  const Tensor& x_rotations() const;   // f32 [p, n_components], for centered and scaled x
  const Tensor& y_rotations() const;   // f32 [q, n_components]
  const Tensor& correlations() const;  // f32 [n_components], of the projections of fit()

 private:
  struct Side {
    Tensor weights, loadings, rotations;
    std::vector<double> mean, scale;
    Tensor apply(const Tensor& t, std::string_view name) const;
  };
  const Side& fitted(const Side& side) const;

  CCAOptions options_;
  Side x_, y_;
  Tensor coefficients_;  // f32 [q, n_components]: of scaled y on the projections of x
  Tensor correlations_;
  bool flat_ = false;  // whether y had the shape [n]
};

}  // namespace kaiseki::ml
