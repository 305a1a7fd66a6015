// SPDX-License-Identifier: MIT
// Batch normalization with one task per channel. A task computes the mean, then the deviations from
// it, then the result, while the channel is in the cache. Two passes keep the variance exact if the
// mean is large.
#include "matrix/backend/operations/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/tensor.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 16384;
constexpr int64_t kShort = 16;  // shorter runs are gathered into one
constexpr int64_t kLimit = int64_t{1} << 20;

/// Calls body(c) for every channel of [n, c, inner], in parallel.
template <class Body>
void for_each_channel(const BatchNormArgs& args, Body body) {
  int64_t values = args.n * args.inner;
  parallel_for(args.c, std::max<int64_t>(1, kWork / std::max<int64_t>(1, values)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t c = begin; c < end; ++c) body(c);
               });
}

class Layout {
 public:
  explicit Layout(const BatchNormArgs& args)
      : n_(args.n), c_(args.c), inner_(args.inner), values_(args.n * args.inner) {}

  /// Short runs are copied into one buffer so that the loops over them are long.
  bool gathers() const { return inner_ < kShort && values_ <= kLimit; }
  int64_t runs() const { return gathers() ? 1 : n_; }
  int64_t length() const { return gathers() ? values_ : inner_; }
  int64_t values() const { return values_; }

  const float* run(const float* x, int64_t channel, int64_t i, float* scratch) const {
    if (!gathers()) return x + (i * c_ + channel) * inner_;
    for (int64_t n = 0; n < n_; ++n)
      for (int64_t j = 0; j < inner_; ++j)
        scratch[n * inner_ + j] = x[(n * c_ + channel) * inner_ + j];
    return scratch;
  }
  float* target(float* y, int64_t channel, int64_t i, float* scratch) const {
    return gathers() ? scratch : y + (i * c_ + channel) * inner_;
  }
  void put(float* y, int64_t channel, const float* scratch) const {
    if (!gathers()) return;
    for (int64_t n = 0; n < n_; ++n)
      for (int64_t j = 0; j < inner_; ++j)
        y[(n * c_ + channel) * inner_ + j] = scratch[n * inner_ + j];
  }

 private:
  int64_t n_, c_, inner_, values_;
};

float lowest(const BatchNormArgs& args) {
  return args.relu ? 0 : -std::numeric_limits<float>::infinity();
}

template <class InvStd>
void normalize(const BatchNormArgs& args, const Tensor& means, InvStd inv_std) {
  const float* x = args.x->data<float>();
  const float* gamma = args.gamma->data<float>();
  const float* beta = args.beta->data<float>();
  const float* mean = means.data<float>();
  float* y = args.y->overwrite<float>();
  const float low = lowest(args);
  const auto inner = static_cast<size_t>(args.inner);
  parallel_for(args.n * args.c, std::max<int64_t>(1, kWork / std::max<int64_t>(1, args.inner)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t c = i % args.c;
                   cpu::normalize(x + i * args.inner, mean[c], gamma[c] * inv_std(c), beta[c], low,
                                  y + i * args.inner, inner);
                 }
               });
}

void batch_norm_train(const BatchNormArgs& args) {
  const float* x = args.x->data<float>();
  const float* gamma = args.gamma->data<float>();
  const float* beta = args.beta->data<float>();
  float* running_mean = args.running_mean->mutable_data<float>();
  float* running_var = args.running_var->mutable_data<float>();
  float* means = args.mean->overwrite<float>();
  float* inv_stds = args.inv_std->overwrite<float>();
  float* y = args.y->overwrite<float>();
  const float low = lowest(args);
  Layout layout(args);
  auto length = static_cast<size_t>(layout.length());
  auto values = static_cast<double>(layout.values());
  for_each_channel(args, [&](int64_t c) {
    float* scratch = layout.gathers() ? cpu::thread_scratch(length) : nullptr;
    double sum = 0, squares = 0;
    const float* gathered = layout.gathers() ? layout.run(x, c, 0, scratch) : nullptr;
    auto run = [&](int64_t i) { return gathered ? gathered : layout.run(x, c, i, nullptr); };
    for (int64_t i = 0; i < layout.runs(); ++i) sum += cpu::sum(run(i), length);
    double mean = sum / values;
    auto center = static_cast<float>(mean);
    for (int64_t i = 0; i < layout.runs(); ++i)
      squares += cpu::squared_deviation(run(i), center, length);
    double variance = std::max(0.0, squares / values - (mean - center) * (mean - center));
    if (squares != squares) variance = squares;
    means[c] = center;
    inv_stds[c] = static_cast<float>(1 / std::sqrt(variance + args.eps));
    double unbiased = values > 1 ? variance * values / (values - 1) : variance;
    running_mean[c] += args.momentum * static_cast<float>(mean - running_mean[c]);
    running_var[c] += args.momentum * static_cast<float>(unbiased - running_var[c]);
    for (int64_t i = 0; i < layout.runs(); ++i)
      cpu::normalize(run(i), center, gamma[c] * inv_stds[c], beta[c], low,
                     layout.target(y, c, i, scratch), length);
    layout.put(y, c, scratch);
  });
}

void batch_norm_infer(const BatchNormArgs& args) {
  const float* var = args.running_var->data<float>();
  normalize(args, *args.running_mean, [&](int64_t c) { return 1 / std::sqrt(var[c] + args.eps); });
}

void batch_norm_apply(const BatchNormArgs& args) {
  const float* inv_std = args.inv_std->data<float>();
  normalize(args, *args.mean, [&](int64_t c) { return inv_std[c]; });
}

void batch_norm_backward(const BatchNormArgs& args) {
  const float* x = args.x->data<float>();
  const float* dy = args.dy->data<float>();
  const float* gamma = args.gamma->data<float>();
  const float* means = args.mean->data<float>();
  const float* inv_stds = args.inv_std->data<float>();
  float* dgamma = args.dgamma->mutable_data<float>();
  float* dbeta = args.dbeta->mutable_data<float>();
  float* dx = args.dx->overwrite<float>();
  Layout layout(args);
  auto length = static_cast<size_t>(layout.length());
  auto values = static_cast<double>(layout.values());
  for_each_channel(args, [&](int64_t c) {
    float* scratch = layout.gathers() ? cpu::thread_scratch(2 * length) : nullptr;
    const float* gathered_x = layout.gathers() ? layout.run(x, c, 0, scratch) : nullptr;
    const float* gathered_dy = layout.gathers() ? layout.run(dy, c, 0, scratch + length) : nullptr;
    auto run_x = [&](int64_t i) { return gathered_x ? gathered_x : layout.run(x, c, i, nullptr); };
    auto run_dy = [&](int64_t i) {
      return gathered_dy ? gathered_dy : layout.run(dy, c, i, nullptr);
    };
    double sum = 0, product = 0;
    for (int64_t i = 0; i < layout.runs(); ++i) {
      sum += cpu::sum(run_dy(i), length);
      product += cpu::dot_centered(run_dy(i), run_x(i), means[c], length);
    }
    double inv_std = inv_stds[c];
    dbeta[c] += static_cast<float>(sum);
    dgamma[c] += static_cast<float>(product * inv_std);
    double scale = gamma[c] * inv_std;
    auto a = static_cast<float>(scale);
    auto b = static_cast<float>(-scale * product * inv_std * inv_std / values);
    auto shift = static_cast<float>(-scale * sum / values);
    for (int64_t i = 0; i < layout.runs(); ++i)
      cpu::normalize_backward(run_dy(i), run_x(i), means[c], a, b, shift,
                              layout.target(dx, c, i, scratch), length);
    layout.put(dx, c, scratch);
  });
}

}  // namespace

namespace cpu {

void add_batch_norm(KernelTable& kernels) {
  kernels.add(kBatchNormTrain, batch_norm_train);
  kernels.add(kBatchNormInfer, batch_norm_infer);
  kernels.add(kBatchNormApply, batch_norm_apply);
  kernels.add(kBatchNormBackward, batch_norm_backward);
}

}  // namespace cpu

}  // namespace kaiseki
