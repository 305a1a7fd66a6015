// SPDX-License-Identifier: MIT
// PCA of samples that arrive in batches (Ross, Lim, Lin and Yang, "Incremental learning for robust
// visual tracking", 2008).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ml/decomposition/projection.h"

namespace kaiseki::ml {

class Archive;

struct IncrementalPCAOptions {
  std::optional<int64_t> n_components = {};  // default: min(samples, features) of the first batch
  bool whiten = false;
  std::optional<int64_t> batch_size = {};  // of fit(); default: 5 * features
};

/// Keeps the axes and forgets the samples. It is exact if all components are kept. Else it is an
/// approximation, as in scikit-learn. Signs are those of PCA. Computes on the CPU in f64.
class IncrementalPCA {
 public:
  /// Throws Error for a setting out of range.
  explicit IncrementalPCA(IncrementalPCAOptions options = {});

  /// Starts anew, and calls partial_fit() for batches of x [n, features].
  void fit(const Tensor& x);
  /// x: f32 [n, features], with n_components samples or more. Two samples in all are necessary.
  void partial_fit(const Tensor& x);
  Tensor transform(const Tensor& x) const;
  Tensor inverse_transform(const Tensor& z) const;

  // These throw ShapeError before fit(). pca.h describes them.
  const Tensor& components() const;
  const Tensor& explained_variance() const;
  const Tensor& explained_variance_ratio() const;
  const Tensor& singular_values() const;
  const Tensor& mean() const;
  double noise_variance() const;
  int64_t n_samples_seen() const { return seen_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  const Projection& fitted() const;

  IncrementalPCAOptions options_;
  PrincipalAxes axes_;
  std::vector<double> mean_;
  double total_ = 0;  // the sum of squares of all samples around the mean
  int64_t seen_ = 0;
  Projection projection_;
};

}  // namespace kaiseki::ml
