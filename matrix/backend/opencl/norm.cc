// SPDX-License-Identifier: MIT
// Batch normalization and local response normalization.
#include <limits>

#include "matrix/backend/opencl/kernels.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/batch_norm.h"
#include "matrix/backend/operations/lrn.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kGroup = 128;

int64_t group_for(const OpenclDevice& device) {
  return device.style() == Style::gpu &&
                 device.facts().max_work_group >= static_cast<size_t>(kGroup)
             ? kGroup
             : 1;
}

Launch per_channel(OpenclDevice& device, const BatchNormArgs& args, std::string_view kernel) {
  Launch launch(device, "batch_norm.cl", kernel,
                define("GROUP", group_for(device)) + define("INFER", 0));
  launch.index(args.n).index(args.c).index(args.inner);
  return launch;
}

void over_channels(Launch& launch, OpenclDevice& device, int64_t channels) {
  auto group = static_cast<size_t>(group_for(device));
  launch.over_groups({static_cast<size_t>(channels), 1, 1}, {group, 1, 1});
}

Launch per_element(OpenclDevice& device, const BatchNormArgs& args, std::string_view kernel,
                   bool infer) {
  Launch launch(device, "batch_norm.cl", kernel,
                define("GROUP", group_for(device)) + define("INFER", infer));
  launch.index(args.n * args.c * args.inner).index(args.c).index(args.inner);
  return launch;
}

/// On CPUs each work-item takes a plane.
void over_elements(Launch& launch, const OpenclDevice& device, const BatchNormArgs& args) {
  if (group_for(device) > 1)
    launch.over(args.n * args.c * args.inner);
  else
    launch.over_groups({static_cast<size_t>(args.n * args.c), 1, 1}, {1, 1, 1});
}

Launch normalize(OpenclDevice& device, const BatchNormArgs& args, bool infer) {
  Launch launch = per_element(device, args, "normalize_elements", infer);
  launch.arg(args.eps)
      .arg(args.relu ? 0.0f : -std::numeric_limits<float>::infinity())
      .in(*args.x)
      .in(*args.gamma)
      .in(*args.beta)
      .in(infer ? *args.running_mean : *args.mean)
      .in(infer ? *args.running_var : *args.inv_std)
      .out(*args.y);
  return launch;
}

/// Each work-item takes 16 neighboring elements of all channels.
template <typename Operands>
void lrn_lanes(OpenclDevice& device, const LrnArgs& args, std::string_view kernel,
               const Operands& operands) {
  Launch launch(device, "lrn_lanes.cl", kernel, define("SIZE", args.size));
  launch.index(args.c).index(args.inner).arg(args.alpha).arg(args.beta).arg(args.k);
  operands(launch);
  launch.over_groups({static_cast<size_t>((args.inner + 15) / 16), static_cast<size_t>(args.n), 1},
                     {1, 1, 1});
}

Launch lrn(OpenclDevice& device, const LrnArgs& args, std::string_view kernel) {
  Launch launch(device, "lrn.cl", kernel, define("SIZE", args.size));
  launch.index(args.n * args.c * args.inner).index(args.c).index(args.inner).arg(args.alpha);
  return launch;
}

void batch_norm_train(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = per_channel(device, args, "statistics");
  launch.arg(args.eps)
      .arg(args.momentum)
      .in(*args.x)
      .in_out(*args.running_mean)
      .in_out(*args.running_var)
      .out(*args.mean)
      .out(*args.inv_std);
  Launch second = normalize(device, args, false);
  second.build();
  over_channels(launch, device, args.c);
  over_elements(second, device, args);
}

void batch_norm_infer(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = normalize(device, args, true);
  over_elements(launch, device, args);
}

void batch_norm_apply(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = normalize(device, args, false);
  over_elements(launch, device, args);
}

void batch_norm_backward(OpenclDevice& device, const BatchNormArgs& args) {
  int64_t total = args.n * args.c * args.inner;
  if (total == 0) return;
  Tensor sums(Shape{2, args.c}, DType::f32, args.x->device());
  Launch launch = per_channel(device, args, "gradients");
  launch.in(*args.x)
      .in(*args.dy)
      .in(*args.mean)
      .in(*args.inv_std)
      .out(sums)
      .in_out(*args.dgamma)
      .in_out(*args.dbeta);
  Launch second = per_element(device, args, "backward", false);
  second.arg(static_cast<float>(args.n * args.inner))
      .in(*args.x)
      .in(*args.dy)
      .in(*args.gamma)
      .in(*args.mean)
      .in(*args.inv_std)
      .in(sums)
      .out(*args.dx);
  second.build();
  over_channels(launch, device, args.c);
  over_elements(second, device, args);
}

void lrn_forward(OpenclDevice& device, const LrnArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  if (device.style() == Style::cpu)
    return lrn_lanes(device, args, "lrn_forward_lanes",
                     [&](Launch& launch) { launch.in(*args.x).out(*args.out); });
  lrn(device, args, "lrn_forward")
      .arg(args.beta)
      .arg(args.k)
      .in(*args.x)
      .out(*args.out)
      .over(args.n * args.c * args.inner);
}

void lrn_backward(OpenclDevice& device, const LrnArgs& args) {
  const int64_t total = args.n * args.c * args.inner;
  if (total == 0) return;
  Tensor ratio(Shape{total}, DType::f32, args.x->device());
  if (device.style() == Style::cpu)
    return lrn_lanes(device, args, "lrn_backward_lanes", [&](Launch& launch) {
      launch.in(*args.x).in(*args.y_in).in(*args.dy).out(ratio).out(*args.out);
    });
  lrn(device, args, "lrn_ratio")
      .arg(args.k)
      .in(*args.x)
      .in(*args.y_in)
      .in(*args.dy)
      .out(ratio)
      .over(total);
  lrn(device, args, "lrn_backward")
      .arg(args.beta)
      .arg(args.k)
      .in(*args.x)
      .in(*args.dy)
      .in(ratio)
      .out(*args.out)
      .over(total);
}

}  // namespace

void add_norm(OpenclKernels& kernels) {
  kernels.add(kBatchNormTrain, batch_norm_train);
  kernels.add(kBatchNormInfer, batch_norm_infer);
  kernels.add(kBatchNormApply, batch_norm_apply);
  kernels.add(kBatchNormBackward, batch_norm_backward);
  kernels.add(kLrnForward, lrn_forward);
  kernels.add(kLrnBackward, lrn_backward);
}

}  // namespace kaiseki::opencl
