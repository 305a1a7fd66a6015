// SPDX-License-Identifier: MIT
#include "matrix/ops/norm.h"

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/batch_norm.h"
#include "matrix/backend/operations/lrn.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

constexpr std::string_view kBatchNorm = "batch_norm";
constexpr std::string_view kLrn = "lrn";

/// Takes n, c and inner from x [n, c, ...].
template <class Args>
Args split(const Tensor& x, std::string_view name) {
  check_tensor(x, "x", name);
  require(x.rank() >= 2, name, "expected x of shape [n, c, ...], got ", x.shape());
  check_operand(x, "x", x.shape(), x, name);
  Args args{};
  args.n = x.dim(0);
  args.c = x.dim(1);
  args.inner = 1;
  for (int i = 2; i < x.rank(); ++i) args.inner *= x.dim(i);
  args.x = &x;
  return args;
}

void check_channels(const Tensor& t, std::string_view what, const Tensor& x) {
  check_operand(t, what, Shape{x.dim(1)}, x, kBatchNorm);
}

/// The arguments common to all forward passes.
BatchNormArgs forward_args(const BatchNormForward& pass) {
  const auto& [x, gamma, beta, y, norm] = pass;
  auto args = split<BatchNormArgs>(x, kBatchNorm);
  check_channels(gamma, "gamma", x);
  check_channels(beta, "beta", x);
  check_operand(y, "y", x.shape(), x, kBatchNorm);
  args.eps = norm.eps, args.momentum = norm.momentum, args.relu = norm.relu;
  args.gamma = &gamma, args.beta = &beta, args.y = &y;
  return args;
}

LrnArgs lrn_args(const Tensor& x, const Lrn& norm) {
  auto args = split<LrnArgs>(x, kLrn);
  require(norm.size > 0, kLrn, "expected a size of 1 or more, got ", norm.size);
  args.size = norm.size;
  args.alpha = norm.alpha;
  args.beta = norm.beta;
  args.k = norm.k;
  return args;
}

}  // namespace

void batch_norm_train(const BatchNormForward& pass, const BatchNormStatistics& statistics) {
  const Tensor& x = pass.x;
  const auto& [running_mean, running_var, mean, inv_std] = statistics;
  auto args = forward_args(pass);
  require(args.c == 0 || x.size() > 0, kBatchNorm, "expected values in every channel, got shape ",
          x.shape());
  check_channels(running_mean, "running_mean", x);
  check_channels(running_var, "running_var", x);
  check_channels(mean, "mean", x);
  check_channels(inv_std, "inv_std", x);
  if (x.size() == 0) return;
  args.running_mean = &running_mean, args.running_var = &running_var;
  args.mean = &mean, args.inv_std = &inv_std;
  run_divisible(kBatchNormTrain, x, args);
}

void batch_norm_infer(const BatchNormForward& pass, const Tensor& running_mean,
                      const Tensor& running_var) {
  const Tensor& x = pass.x;
  auto args = forward_args(pass);
  check_channels(running_mean, "running_mean", x);
  check_channels(running_var, "running_var", x);
  if (x.size() == 0) return;
  Tensor mean = running_mean, var = running_var;
  args.running_mean = &mean, args.running_var = &var;
  run_divisible(kBatchNormInfer, x, args);
}

void batch_norm_apply(const BatchNormForward& pass, const Tensor& mean, const Tensor& inv_std) {
  const Tensor& x = pass.x;
  auto args = forward_args(pass);
  check_channels(mean, "mean", x);
  check_channels(inv_std, "inv_std", x);
  if (x.size() == 0) return;
  Tensor means = mean, inv_stds = inv_std;
  args.mean = &means, args.inv_std = &inv_stds;
  run_divisible(kBatchNormApply, x, args);
}

void batch_norm_backward(const BatchNormBackward& pass) {
  const auto& [x, dy, gamma, mean, inv_std, dx, dgamma, dbeta] = pass;
  auto args = split<BatchNormArgs>(x, kBatchNorm);
  check_operand(dy, "dy", x.shape(), x, kBatchNorm);
  check_operand(dx, "dx", x.shape(), x, kBatchNorm);
  check_channels(gamma, "gamma", x);
  check_channels(mean, "mean", x);
  check_channels(inv_std, "inv_std", x);
  check_channels(dgamma, "dgamma", x);
  check_channels(dbeta, "dbeta", x);
  if (x.size() == 0) return;
  Tensor means = mean, inv_stds = inv_std;
  args.dy = &dy;
  args.gamma = &gamma;
  args.mean = &means;
  args.inv_std = &inv_stds;
  args.dx = &dx;
  args.dgamma = &dgamma;
  args.dbeta = &dbeta;
  run_divisible(kBatchNormBackward, x, args);
}

void lrn_into(Tensor& y, const Tensor& x, const Lrn& norm) {
  LrnArgs args = lrn_args(x, norm);
  check_operand(y, "y", x.shape(), x, kLrn);
  require(!overlap(x, y), kLrn, "y overlaps x in memory; use separate tensors");
  if (x.size() == 0) return;
  args.out = &y;
  run_divisible(kLrnForward, x, args);
}

void lrn_backward_into(Tensor& dx, const Tensor& x, const Tensor& y, const Tensor& dy,
                       const Lrn& norm) {
  LrnArgs args = lrn_args(x, norm);
  check_operand(y, "y", x.shape(), x, kLrn);
  check_operand(dy, "dy", x.shape(), x, kLrn);
  check_operand(dx, "dx", x.shape(), x, kLrn);
  for (const Tensor* in : {&x, &y, &dy})
    require(!overlap(*in, dx), kLrn, "dx overlaps x, y or dy in memory; use separate tensors");
  if (x.size() == 0) return;
  args.y_in = &y;
  args.dy = &dy;
  args.out = &dx;
  run_divisible(kLrnBackward, x, args);
}

}  // namespace kaiseki
