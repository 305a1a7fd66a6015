// SPDX-License-Identifier: MIT
// Batch normalisation and local response normalisation.
#include <limits>

#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"

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

/// On CPUs a plane to a work-item.
void over_elements(Launch& launch, const OpenclDevice& device, const BatchNormArgs& args) {
  if (group_for(device) > 1)
    launch.over(args.n * args.c * args.inner);
  else
    launch.over_groups({static_cast<size_t>(args.n * args.c), 1, 1}, {1, 1, 1});
}

Launch normalise(OpenclDevice& device, const BatchNormArgs& args, bool infer) {
  Launch launch = per_element(device, args, "normalise", infer);
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

/// 16 neighbouring elements of all channels to a work-item.
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

}  // namespace

void OpenclBackend::batch_norm_train(const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = per_channel(device_, args, "statistics");
  launch.arg(args.eps)
      .arg(args.momentum)
      .in(*args.x)
      .in_out(*args.running_mean)
      .in_out(*args.running_var)
      .out(*args.mean)
      .out(*args.inv_std);
  Launch second = normalise(device_, args, false);
  second.build();
  over_channels(launch, device_, args.c);
  over_elements(second, device_, args);
}

void OpenclBackend::batch_norm_infer(const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = normalise(device_, args, true);
  over_elements(launch, device_, args);
}

void OpenclBackend::batch_norm_apply(const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  Launch launch = normalise(device_, args, false);
  over_elements(launch, device_, args);
}

void OpenclBackend::batch_norm_backward(const BatchNormArgs& args) {
  int64_t total = args.n * args.c * args.inner;
  if (total == 0) return;
  Tensor sums(Shape{2, args.c}, DType::f32, device());
  Launch launch = per_channel(device_, args, "gradients");
  launch.in(*args.x)
      .in(*args.dy)
      .in(*args.mean)
      .in(*args.inv_std)
      .out(sums)
      .in_out(*args.dgamma)
      .in_out(*args.dbeta);
  Launch second = per_element(device_, args, "backward", false);
  second.arg(static_cast<float>(args.n * args.inner))
      .in(*args.x)
      .in(*args.dy)
      .in(*args.gamma)
      .in(*args.mean)
      .in(*args.inv_std)
      .in(sums)
      .out(*args.dx);
  second.build();
  over_channels(launch, device_, args.c);
  over_elements(second, device_, args);
}

void OpenclBackend::lrn_forward(const LrnArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  if (device_.style() == Style::cpu)
    return lrn_lanes(device_, args, "lrn_forward_lanes",
                     [&](Launch& launch) { launch.in(*args.x).out(*args.out); });
  lrn(device_, args, "lrn_forward")
      .arg(args.beta)
      .arg(args.k)
      .in(*args.x)
      .out(*args.out)
      .over(args.n * args.c * args.inner);
}

void OpenclBackend::lrn_backward(const LrnArgs& args) {
  const int64_t total = args.n * args.c * args.inner;
  if (total == 0) return;
  Tensor ratio(Shape{total}, DType::f32, device());
  if (device_.style() == Style::cpu)
    return lrn_lanes(device_, args, "lrn_backward_lanes", [&](Launch& launch) {
      launch.in(*args.x).in(*args.y_in).in(*args.dy).out(ratio).out(*args.out);
    });
  lrn(device_, args, "lrn_ratio")
      .arg(args.k)
      .in(*args.x)
      .in(*args.y_in)
      .in(*args.dy)
      .out(ratio)
      .over(total);
  lrn(device_, args, "lrn_backward")
      .arg(args.beta)
      .arg(args.k)
      .in(*args.x)
      .in(*args.dy)
      .in(ratio)
      .out(*args.out)
      .over(total);
}

}  // namespace kaiseki::opencl
