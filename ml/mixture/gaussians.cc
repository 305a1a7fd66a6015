// SPDX-License-Identifier: MIT
#include "ml/mixture/gaussians.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/factor_cholesky.h"
#include "matrix/linalg/solve.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/statistics.h"
#include "ml/decomposition/gram.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

void add_values(double* sums, const Tensor& values) {
  for (const float value : values.to_vector<float>()) *sums++ += static_cast<double>(value);
}

/// A part of an array of doubles, as a tensor.
Tensor part(const std::vector<double>& values, int64_t index, const Shape& shape, Device device) {
  const int64_t size = shape.elements();
  return tensor_from({values.begin() + index * size, values.begin() + (index + 1) * size}, shape,
                     device);
}

}  // namespace

std::vector<double> rounded_to_f32(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values)
    result.push_back(static_cast<double>(static_cast<float>(value)));
  return result;
}

Shape Gaussians::covariance_shape() const {
  switch (type) {
    case CovarianceType::full:
      return {count, features, features};
    case CovarianceType::tied:
      return {features, features};
    case CovarianceType::diag:
      return {count, features};
    case CovarianceType::spherical:
      break;
  }
  return {count};
}

void Gaussians::factor(std::string_view name) {
  constexpr std::string_view kHelp =
      "; expected a larger reg_covar, fewer components, or samples of larger magnitude";
  factors.clear();
  if (!std::ranges::all_of(covariances, [](double value) { return std::isfinite(value); }))
    throw Error(message(name, "a covariance is too large for f32. Scale the features"));
  if (!has_matrices()) {
    for (const double variance : covariances) {
      if (!(variance > 0))
        throw Error(message(name, "a component has the variance ", variance, kHelp));
      factors.push_back(1 / std::sqrt(variance));
    }
    return;
  }
  try {
    const Tensor all =
        Tensor::from(std::span<const double>(covariances), covariance_shape(), Device::cpu());
    factors = inv(cholesky(all)).to_vector<double>();
  } catch (const LinearAlgebraError& error) {
    throw Error(message(name, "a covariance is not positive definite: ", error.what(), kHelp));
  }
}

bool Gaussians::needs_f64_products() const {
  // Sums of products in f32 have relative errors of about 1e-6.
  constexpr double kLeastRest = 1e-3;
  const bool finite =
      std::ranges::all_of(covariances, [](double value) { return std::isfinite(value); });
  if (type != CovarianceType::full || !finite) return false;
  const int64_t d = features;
  for (int64_t k = 0; k < count; ++k) {
    const double* covariance = covariances.data() + k * d * d;
    std::vector<double> root(covariance, covariance + d * d);
    if (linalg::factor_cholesky(linalg::MatrixView<double>{root.data(), d, d, d})) return true;
    // The square of a diagonal element is the variance that the features before do not explain.
    for (int64_t j = 0; j < d * d; j += d + 1)
      if (root[j] * root[j] < kLeastRest * covariance[j]) return true;
  }
  return false;
}

double Gaussians::log_root_determinant(int64_t component) const {
  double sum = 0;
  switch (type) {
    case CovarianceType::spherical:
      return static_cast<double>(features) * std::log(factors[component]);
    case CovarianceType::diag:
      for (int64_t j = 0; j < features; ++j) sum += std::log(factors[component * features + j]);
      return sum;
    case CovarianceType::full:
    case CovarianceType::tied:
      break;
  }
  const int64_t matrix = type == CovarianceType::full ? component : 0;
  for (int64_t j = 0; j < features; ++j)
    sum += std::log(factors[(matrix * features + j) * features + j]);
  return sum;
}

std::vector<double> Gaussians::log_constants() const {
  std::vector<double> constants;
  for (int64_t k = 0; k < count; ++k)
    constants.push_back(std::log(weights[k]) + log_root_determinant(k) -
                        0.5 * static_cast<double>(features) * std::log(2 * std::numbers::pi));
  return constants;
}

double Gaussians::free_parameters() const {
  const auto k = static_cast<double>(count), d = static_cast<double>(features);
  const double means_and_weights = k * d + k - 1;
  switch (type) {
    case CovarianceType::full:
      return means_and_weights + k * d * (d + 1) / 2;
    case CovarianceType::tied:
      return means_and_weights + d * (d + 1) / 2;
    case CovarianceType::diag:
      return means_and_weights + k * d;
    case CovarianceType::spherical:
      break;
  }
  return means_and_weights + k;
}

GaussiansOnDevice::GaussiansOnDevice(const Gaussians& from, Device device)
    : matrices_(from.has_matrices()) {
  const int64_t d = from.features;
  for (int64_t k = 0; k < from.count; ++k) {
    means_.push_back(part(from.means, k, {d}, device));
    if (from.type == CovarianceType::full)
      factors_.push_back(part(from.factors, k, {d, d}, device));
    else if (from.type == CovarianceType::tied)
      factors_.push_back(k == 0 ? part(from.factors, 0, {d, d}, device) : factors_[0]);
    else if (from.type == CovarianceType::diag)
      factors_.push_back(part(from.factors, k, {d}, device));
    else
      factors_.push_back(part(from.factors, k, {1}, device));
  }
  constants_ = tensor_from(from.log_constants(), {from.count, 1}, device);
}

Tensor GaussiansOnDevice::differences(const Tensor& rows, int64_t component) const {
  return rows - means_[component];
}

Tensor GaussiansOnDevice::log_probabilities(const Tensor& rows) const {
  const auto count = static_cast<int64_t>(means_.size());
  Tensor result({count, rows.dim(0)}, DType::f32, rows.device());
  for (int64_t k = 0; k < count; ++k) {
    const Tensor difference = differences(rows, k);
    const Tensor standard =
        matrices_ ? matmul(difference, factors_[k], false, true) : Tensor(difference * factors_[k]);
    Tensor row = result.slice(0, k, 1).reshape({rows.dim(0)});
    reduce_into(row, Reduction::sum_of_squares, standard, {1});
  }
  elementwise_into(result, "constant - 0.5 * squares",
                   {{"constant", constants_}, {"squares", result}});
  return result;
}

MixtureSums::MixtureSums(const Gaussians& model)
    : weights(static_cast<size_t>(model.count)),
      first(static_cast<size_t>(model.count * model.features)) {
  if (model.type == CovarianceType::full) second.resize(first.size() * model.features);
  if (!model.has_matrices()) second.resize(first.size());
}

MixtureSummer::MixtureSummer(const Gaussians& model, Device device, MixtureProducts products)
    : model_(model),
      products_(products),
      sums_(model),
      weights_({model.count}, DType::f32, device),
      first_({model.count, model.features}, DType::f32, device) {
  const int64_t d = model.features;
  if (model.type == CovarianceType::full) second_ = Tensor({model.count, d, d}, DType::f32, device);
  if (!model.has_matrices()) second_ = Tensor({model.count, d}, DType::f32, device);
}

void MixtureSummer::add(const Tensor& responsibilities,
                        const std::function<Tensor(int64_t)>& shift_rows) {
  if (products_ == MixtureProducts::f64_on_host) return add_on_host(responsibilities, shift_rows);
  const int64_t d = model_.features, rows = responsibilities.dim(1);
  const float keep = std::exchange(pending_, true) ? 1 : 0;
  reduce_into(weights_, Reduction::sum, responsibilities, {1}, keep);
  for (int64_t k = 0; k < model_.count; ++k) {
    const Tensor difference = shift_rows(k);
    const Tensor weight = responsibilities.slice(0, k, 1).reshape({rows, 1});
    const Tensor weighted = difference * weight;
    Tensor first = first_.slice(0, k, 1).reshape({d});
    reduce_into(first, Reduction::sum, weighted, {0}, keep);
    if (!second_.defined()) continue;
    if (model_.type == CovarianceType::full) {
      Tensor second = second_.slice(0, k, 1).reshape({d, d});
      gemm(weighted, difference, second, {.transpose_a = true, .beta = keep});
    } else {
      Tensor second = second_.slice(0, k, 1).reshape({d});
      reduce_into(second, Reduction::sum, weighted * difference, {0}, keep);
    }
  }
  if (weights_.device().is_cpu()) flush();
}

void MixtureSummer::add_on_host(const Tensor& responsibilities,
                                const std::function<Tensor(int64_t)>& shift_rows) {
  const int64_t d = model_.features, rows = responsibilities.dim(1);
  const std::vector<float> weights = responsibilities.to_vector();
  for (int64_t k = 0; k < model_.count; ++k) {
    const std::vector<float> differences = shift_rows(k).to_vector();
    double* first = sums_.first.data() + k * d;
    std::vector<double> scaled;  // by the roots of the weights, so that the product is symmetric
    for (int64_t i = 0; i < rows; ++i) {
      const auto weight = static_cast<double>(weights[k * rows + i]);
      if (weight == 0) continue;
      sums_.weights[k] += weight;
      const double root = std::sqrt(weight);
      for (int64_t j = 0; j < d; ++j) {
        const auto value = static_cast<double>(differences[i * d + j]);
        first[j] += weight * value;
        scaled.push_back(root * value);
      }
    }
    if (scaled.empty()) continue;
    const Tensor factor = f64_tensor(scaled, {static_cast<int64_t>(scaled.size()) / d, d});
    const std::vector<double> block = matmul(factor, factor, true).to_vector<double>();
    double* second = sums_.second.data() + k * d * d;
    for (int64_t at = 0; at < d * d; ++at) second[at] += block[at];
  }
}

void MixtureSummer::flush() {
  if (!std::exchange(pending_, false)) return;
  add_values(sums_.weights.data(), weights_);
  add_values(sums_.first.data(), first_);
  if (second_.defined()) add_values(sums_.second.data(), second_);
}

MixtureSums MixtureSummer::take() {
  flush();
  return std::move(sums_);
}

MixtureSums sums_of(const Tensor& x, const Gaussians& model, const std::vector<double>& mean,
                    const std::function<Tensor(int64_t begin, int64_t rows)>& responsibilities,
                    MixtureProducts products) {
  MixtureSummer summer(model, x.device(), products);
  const Tensor there = tensor_from(mean, {model.features}, x.device());
  for_each_row_block(x, [&](const Tensor& rows, int64_t begin) {
    const Tensor difference = rows - there;
    summer.add(responsibilities(begin, rows.dim(0)), [&](int64_t) { return difference; });
  });
  MixtureSums sums = summer.take();
  const std::vector<double> shift = rounded_to_f32(mean);
  for (int64_t k = 0; k < model.count; ++k)
    sums.shifts.insert(sums.shifts.end(), shift.begin(), shift.end());
  return sums;
}

void maximization(const MixtureSums& sums, const TiedProducts& tied, double reg_covar,
                  Gaussians& model) {
  constexpr double kLeastWeight = 1e-15;  // a component without samples does not divide by 0
  const int64_t d = model.features;
  double total = 0;
  for (const double weight : sums.weights) total += weight + kLeastWeight;
  model.weights.assign(static_cast<size_t>(model.count), 0);
  model.means = sums.shifts;
  model.covariances.assign(static_cast<size_t>(model.covariance_shape().elements()), 0);
  std::vector<double>& covariances = model.covariances;
  if (model.type == CovarianceType::tied)
    for (int64_t i = 0; i < d * d; ++i) covariances[i] = tied.products[i] / total;
  for (int64_t k = 0; k < model.count; ++k) {
    const double weight = sums.weights[k] + kLeastWeight;
    model.weights[k] = weight / total;
    std::vector<double> step(static_cast<size_t>(d));
    for (int64_t j = 0; j < d; ++j) {
      step[j] = sums.first[k * d + j] / weight;
      model.means[k * d + j] += step[j];
    }
    switch (model.type) {
      case CovarianceType::full:
        for (int64_t i = 0; i < d; ++i)
          for (int64_t j = 0; j < d; ++j) {
            const int64_t at = (k * d + i) * d + j;
            // The mean of both triangles: products in f32 need not be symmetric.
            const double product = (sums.second[at] + sums.second[(k * d + j) * d + i]) / 2;
            covariances[at] = product / weight - step[i] * step[j] + (i == j ? reg_covar : 0);
          }
        break;
      case CovarianceType::tied:
        for (int64_t i = 0; i < d; ++i)
          for (int64_t j = 0; j < d; ++j)
            covariances[i * d + j] -= weight / total * (model.means[k * d + i] - tied.mean[i]) *
                                      (model.means[k * d + j] - tied.mean[j]);
        break;
      case CovarianceType::diag:
      case CovarianceType::spherical:
        for (int64_t j = 0; j < d; ++j) {
          const double variance =
              std::max(0.0, sums.second[k * d + j] / weight - step[j] * step[j]) + reg_covar;
          if (model.type == CovarianceType::diag)
            covariances[k * d + j] = variance;
          else
            covariances[k] += variance / static_cast<double>(d);
        }
    }
  }
  if (model.type == CovarianceType::tied)
    for (int64_t i = 0; i < d; ++i) covariances[i * d + i] += reg_covar;
}

}  // namespace kaiseki::ml
