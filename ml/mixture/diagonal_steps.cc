// SPDX-License-Identifier: MIT
#include "ml/mixture/diagonal_steps.h"

#include <algorithm>
#include <cmath>

#include "matrix/ceil_div.h"
#include "matrix/threads.h"
#include "ml/mixture/diagonal_kernels.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kRows = DiagonalKernels::kRows;
constexpr int64_t kLeastRows = 1024, kMostPieces = 64;
constexpr int64_t kTile = 16;  // columns, transposed together

/// The parameters in f32. Samples are columns of a block.
class DiagonalStep {
 public:
  explicit DiagonalStep(const Gaussians& model)
      : model_(model),
        means_(model.means.begin(), model.means.end()),
        constants_(model.log_constants()) {
    for (int64_t k = 0; k < model.count; ++k)
      for (int64_t j = 0; j < model.features; ++j)
        factors_.push_back(static_cast<float>(model.type == CovarianceType::diag
                                                  ? model.factors[k * model.features + j]
                                                  : model.factors[k]));
  }

  void add_piece(const float* x, int64_t rows, MixtureSums& sums) const {
    std::vector<float> block(static_cast<size_t>(model_.features * kRows));
    std::vector<float> weights(static_cast<size_t>(model_.count * kRows));
    for (int64_t begin = 0; begin < rows; begin += kRows) {
      const int64_t count = std::min(kRows, rows - begin);
      // Other columns keep old samples, or zeros. Their weights are 0.
      transpose(x + begin * model_.features, count, block.data());
      log_probabilities(block.data(), weights.data());
      sums.log_likelihood += normalize(weights.data(), count);
      add_block(block.data(), weights.data(), sums);
    }
  }

 private:
  void transpose(const float* x, int64_t rows, float* block) const {
    for (int64_t first = 0; first < model_.features; first += kTile) {
      const int64_t end = std::min(first + kTile, model_.features);
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = first; j < end; ++j) block[j * kRows + i] = x[i * model_.features + j];
    }
  }

  void log_probabilities(const float* block, float* out) const {
    for (int64_t k = 0; k < model_.count; ++k) {
      float squares[kRows];
      const int64_t first = k * model_.features;
      kernels_.squares(model_.features, block, &means_[first], &factors_[first], squares);
      const auto constant = static_cast<float>(constants_[k]);
      for (int64_t i = 0; i < kRows; ++i) out[k * kRows + i] = constant - 0.5f * squares[i];
    }
  }

  /// Makes the weights of each sample have the sum 1. Returns the log likelihood of `count`
  /// samples.
  double normalize(float* weights, int64_t count) const {
    double total = 0;
    for (int64_t i = 0; i < kRows; ++i) {
      float largest = weights[i], sum = 0;
      for (int64_t k = 1; k < model_.count; ++k)
        largest = std::max(largest, weights[k * kRows + i]);
      for (int64_t k = 0; k < model_.count; ++k) {
        float& weight = weights[k * kRows + i];
        weight = i < count ? std::exp(weight - largest) : 0;
        sum += weight;
      }
      if (i >= count) continue;
      for (int64_t k = 0; k < model_.count; ++k) weights[k * kRows + i] /= sum;
      total += static_cast<double>(largest + std::log(sum));
    }
    return total;
  }

  void add_block(const float* block, const float* weights, MixtureSums& sums) const {
    for (int64_t k = 0; k < model_.count; ++k) {
      const float* weight = weights + k * kRows;
      for (int64_t i = 0; i < kRows; ++i) sums.weights[k] += static_cast<double>(weight[i]);
      const int64_t first = k * model_.features;
      kernels_.add_moments(model_.features, block, weight, &means_[first], &sums.first[first],
                           &sums.second[first]);
    }
  }

  const Gaussians& model_;
  const DiagonalKernels& kernels_ = diagonal_kernels();
  std::vector<float> means_, factors_;  // [count, features]
  std::vector<double> constants_;
};

void add_to(std::vector<double>& sums, const std::vector<double>& more) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += more[i];
}

}  // namespace

MixtureSums diagonal_expectation(const Tensor& x, const Gaussians& model) {
  const DiagonalStep step(model);
  const int64_t n = x.dim(0), grain = std::max(kLeastRows, ceil_div(n, kMostPieces));
  const float* rows = x.data<float>();
  MixtureSums all(model);
  std::vector<MixtureSums> pieces(static_cast<size_t>(ceil_div(n, grain)), all);
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    step.add_piece(rows + begin * model.features, end - begin, pieces[begin / grain]);
  });
  for (const MixtureSums& piece : pieces) {
    add_to(all.weights, piece.weights);
    add_to(all.first, piece.first);
    add_to(all.second, piece.second);
    all.log_likelihood += piece.log_likelihood;
  }
  return all;
}

}  // namespace kaiseki::ml
