// SPDX-License-Identifier: MIT
// The parameters of a mixture of Gaussians. One pass over the samples computes both steps of the EM
// algorithm (Dempster, Laird and Rubin, 1977).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// `full`: each component has its covariance matrix. `tied`: all share one. `diag`: each has a
/// variance for each feature. `spherical`: each has one variance.
enum class CovarianceType : uint8_t { full, tied, diag, spherical };

struct Gaussians {
  CovarianceType type = CovarianceType::full;
  int64_t count = 0, features = 0;
  std::vector<double> weights = {};  // [count], their sum is 1
  std::vector<double> means = {};    // [count, features]
  // [count, features, features], [features, features], [count, features] or [count], by type.
  std::vector<double> covariances = {};
  // The same shape: the inverse of the Cholesky factor, or the inverse of the deviation.
  std::vector<double> factors = {};

  Shape covariance_shape() const;
  bool has_matrices() const { return type == CovarianceType::full || type == CovarianceType::tied; }
  /// Computes factors from covariances. Throws Error for one that is not positive definite.
  void factor(std::string_view name);
  /// Whether a full covariance is so close to singular that products in f32 are too inaccurate.
  bool needs_f64_products() const;
  /// log(sqrt(det(precision))) of a component.
  double log_root_determinant(int64_t component) const;
  /// The logarithm of weight * density at the mean of each component.
  std::vector<double> log_constants() const;
  /// The number of values that a fit determines.
  double free_parameters() const;
};

/// The parameters in f32 on a device.
class GaussiansOnDevice {
 public:
  GaussiansOnDevice(const Gaussians& from, Device device);

  /// log(weight * density) of the rows [b, features] for each component: f32 [count, b].
  Tensor log_probabilities(const Tensor& rows) const;
  /// rows - mean of a component.
  Tensor differences(const Tensor& rows, int64_t component) const;

 private:
  bool matrices_;
  std::vector<Tensor> means_, factors_;
  Tensor constants_;  // [count, 1]
};

/// The f32 values that a device subtracts.
std::vector<double> rounded_to_f32(const std::vector<double>& values);

/// Weighted sums over samples, around shifts that differ by component.
struct MixtureSums {
  std::vector<double> shifts;   // [count, features]
  std::vector<double> weights;  // [count]
  std::vector<double> first;    // [count, features]: of weight * (x - shift)
  std::vector<double> second;   // full: products [count, features, features]; tied: empty; else
                                // squares [count, features]
  double log_likelihood = 0;

  explicit MixtureSums(const Gaussians& model);
};

/// Where the products of a full covariance are computed.
enum class MixtureProducts : uint8_t { f32_on_device, f64_on_host };

/// Adds up the sums of blocks. On the CPU they are added in double. Another device adds them in
/// f32, and only their sum comes to the host. With f64_on_host, the rows come to the host.
class MixtureSummer {
 public:
  MixtureSummer(const Gaussians& model, Device device, MixtureProducts products);
  /// Adds rows with the weights responsibilities [count, b]. shift_rows(k) is rows - shift of k.
  void add(const Tensor& responsibilities, const std::function<Tensor(int64_t)>& shift_rows);
  MixtureSums take();

 private:
  void add_on_host(const Tensor& responsibilities,
                   const std::function<Tensor(int64_t)>& shift_rows);
  void flush();

  const Gaussians& model_;
  MixtureProducts products_;
  MixtureSums sums_;
  Tensor weights_, first_, second_;  // f32, of the shapes of MixtureSums
  bool pending_ = false;
};

/// The products of all samples around their mean, which a tied covariance needs.
struct TiedProducts {
  std::vector<double> mean, products;  // [features], [features, features]
};

/// The sums for given responsibilities of blocks, around `mean` for all components.
/// responsibilities(begin, rows) gives f32 [count, rows] on the device of x.
MixtureSums sums_of(const Tensor& x, const Gaussians& model, const std::vector<double>& mean,
                    const std::function<Tensor(int64_t begin, int64_t rows)>& responsibilities,
                    MixtureProducts products);

/// Sets weights, means and covariances from the sums.
void maximization(const MixtureSums& sums, const TiedProducts& tied, double reg_covar,
                  Gaussians& model);

}  // namespace kaiseki::ml
