// SPDX-License-Identifier: MIT
// Mixtures of Gaussians: clustering with probabilities, and density estimates.
#pragma once

#include <cstdint>

#include "ml/mixture/gaussians.h"

namespace kaiseki::ml {

class Archive;

/// The first responsibilities: of the clusters of k-means, or random.
enum class MixtureInit : uint8_t { kmeans, random };

struct GaussianMixtureOptions {
  int64_t n_components = 1;
  CovarianceType covariance_type = CovarianceType::full;
  double tol = 1e-3;        // the least gain of the mean log likelihood for another iteration
  double reg_covar = 1e-6;  // is added to variances
  int64_t max_iter = 100;
  // Starts, with seed, seed + 1, ... The result with the largest likelihood is kept.
  int64_t n_init = 1;
  MixtureInit init_params = MixtureInit::kmeans;
  // Each replaces that part of the start if it is defined. f32, of the shapes of weights(), means()
  // and covariances().
  Tensor weights_init = {}, means_init = {}, precisions_init = {};
  uint64_t seed = 0;
};

/// Fits by the EM algorithm. Products run in f32 on the device of x, sums of blocks and
/// decompositions in f64 on the CPU. If a full covariance is nearly singular, the products of the
/// covariances run in f64 on the CPU. The same seed gives the same result for any number of
/// threads.
class GaussianMixture {
 public:
  /// Throws Error for a setting out of range.
  explicit GaussianMixture(GaussianMixtureOptions options = {});

  /// x: f32 [n, features], n >= n_components. Throws ShapeError, also for NaN and infinity. Throws
  /// Error if a covariance is not positive definite.
  void fit(const Tensor& x);
  Tensor predict(const Tensor& x) const;        // i32 [n], the most probable component
  Tensor predict_proba(const Tensor& x) const;  // f32 [n, n_components]
  Tensor score_samples(const Tensor& x) const;  // f32 [n], the log densities
  double score(const Tensor& x) const;          // their mean
  double bic(const Tensor& x) const;            // the Bayesian information criterion
  double aic(const Tensor& x) const;            // Akaike's information criterion

  struct Sample {
    Tensor x;           // f32 [n, features]
    Tensor components;  // i32 [n], ascending
  };
  /// Draws n samples. They are on the default device.
  Sample sample(int64_t n, uint64_t seed = 0) const;

  // These throw ShapeError before fit(). Tensors are on the default device.
  Tensor weights() const;  // f32 [n_components]
  Tensor means() const;    // f32 [n_components, features]
  /// f32 [n_components, features, features] (full), [features, features] (tied), [n_components,
  /// features] (diag) or [n_components] (spherical).
  Tensor covariances() const;
  bool converged() const;      // whether the start that was kept ended before max_iter
  int64_t n_iter() const;      // of this start
  double lower_bound() const;  // the mean log likelihood of its last iteration
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  const Gaussians& fitted() const;
  Gaussians start(const Tensor& x, const TiedProducts& products, uint64_t number) const;
  void check_start(const Tensor& x) const;
  double log_likelihood(const Tensor& x, std::string_view name) const;

  GaussianMixtureOptions options_;
  Gaussians model_;
  bool converged_ = false;
  int64_t n_iter_ = 0;
  double lower_bound_ = 0;
};

}  // namespace kaiseki::ml
