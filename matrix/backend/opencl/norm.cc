// SPDX-License-Identifier: MIT
// Batch normalization and local response normalization.
#include <initializer_list>
#include <limits>

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/operations/batch_norm.h"
#include "matrix/backend/operations/lrn.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kGroup = 256;

/// GPUs share a channel among work-groups of kGroup items. CPUs, and GPUs without such groups, take
/// a channel or a plane in each work-item.
class BatchNorm {
 public:
  BatchNorm(OpenclDevice& device, const BatchNormArgs& args, bool infer = false)
      : device_(device),
        args_(args),
        grouped_(device.style() == Style::gpu &&
                 device.facts().max_work_group >= static_cast<size_t>(kGroup)),
        lanes_(grouped_ && are_whole() ? 4 : 1),
        options_(define("INFER", infer)) {
    if (grouped_)
      options_ += define("GROUP", kGroup) + define("SPAN", kSpan) + define("LANES", lanes_);
  }

  void statistics() const {
    if (!grouped_) {
      launch("statistics")
          .index(args_.n)
          .index(args_.c)
          .index(args_.inner)
          .arg(args_.eps)
          .arg(args_.momentum)
          .in(*args_.x)
          .in_out(*args_.running_mean)
          .in_out(*args_.running_var)
          .out(*args_.mean)
          .out(*args_.inv_std)
          .over_groups({static_cast<size_t>(args_.c), 1, 1}, {1, 1, 1});
      return;
    }
    Tensor sums(Shape{2, args_.c, parts()}, DType::f32, args_.x->device());
    Launch join = channels("statistics_join");
    join.arg(args_.eps)
        .arg(args_.momentum)
        .in(sums)
        .in_out(*args_.running_mean)
        .in_out(*args_.running_var)
        .out(*args_.mean)
        .out(*args_.inv_std);
    join.build();
    over_parts(channels("statistics_parts").in(*args_.x).out(sums));
    over_channels(join);
  }

  /// sums: the sums of dy and of dy * normalized x for each channel.
  void gradients(Tensor& sums) const {
    if (!grouped_) {
      launch("gradients")
          .index(args_.n)
          .index(args_.c)
          .index(args_.inner)
          .in(*args_.x)
          .in(*args_.dy)
          .in(*args_.mean)
          .in(*args_.inv_std)
          .out(sums)
          .in_out(*args_.dgamma)
          .in_out(*args_.dbeta)
          .over_groups({static_cast<size_t>(args_.c), 1, 1}, {1, 1, 1});
      return;
    }
    Tensor partial(Shape{2, args_.c, parts()}, DType::f32, args_.x->device());
    Launch join = channels("gradients_join");
    join.in(partial).in(*args_.inv_std).out(sums).in_out(*args_.dgamma).in_out(*args_.dbeta);
    join.build();
    over_parts(channels("gradients_parts").in(*args_.x).in(*args_.dy).in(*args_.mean).out(partial));
    over_channels(join);
  }

  Launch per_element(std::string_view kernel) const {
    Launch launch = this->launch(kernel);
    launch.index(args_.n * args_.c * inner()).index(args_.c).index(inner());
    return launch;
  }

  void over_elements(Launch& launch) const {
    if (grouped_)
      launch.over(args_.n * args_.c * inner());
    else
      launch.over_groups({static_cast<size_t>(args_.n * args_.c), 1, 1}, {1, 1, 1});
  }

 private:
  static constexpr int64_t kSpan = 8 * kGroup;  // vectors in a part, held in registers

  Launch launch(std::string_view kernel) const {
    return {device_, grouped_ ? "batch_norm_group.cl" : "batch_norm.cl", kernel, options_};
  }
  Launch channels(std::string_view kernel) const {
    Launch launch = this->launch(kernel);
    launch.index(vectors()).index(args_.c).index(inner()).index(parts());
    return launch;
  }
  bool are_whole() const {
    for (const Tensor* t :
         std::initializer_list<const Tensor*>{args_.x, args_.y, args_.dy, args_.dx})
      if (t && t->offset() % 4 != 0) return false;
    return args_.inner % 4 == 0;
  }
  int64_t inner() const { return args_.inner / lanes_; }
  int64_t vectors() const { return args_.n * inner(); }
  int64_t parts() const { return ceil_div(vectors(), kSpan); }
  void over_parts(Launch& launch) const {
    launch.over_groups({static_cast<size_t>(parts()), static_cast<size_t>(args_.c), 1},
                       {static_cast<size_t>(kGroup), 1, 1});
  }
  void over_channels(Launch& launch) const {
    launch.over_groups({static_cast<size_t>(args_.c), 1, 1}, {static_cast<size_t>(kGroup), 1, 1});
  }

  OpenclDevice& device_;
  const BatchNormArgs& args_;
  bool grouped_;
  int64_t lanes_;
  std::string options_;
};

Launch normalize(const BatchNorm& norm, const BatchNormArgs& args, bool infer) {
  Launch launch = norm.per_element("normalize_elements");
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
  launch.over_groups(
      {static_cast<size_t>(ceil_div(args.inner, 16)), static_cast<size_t>(args.n), 1}, {1, 1, 1});
}

Launch lrn(OpenclDevice& device, const LrnArgs& args, std::string_view kernel) {
  Launch launch(device, "lrn.cl", kernel, define("SIZE", args.size));
  launch.index(args.n * args.c * args.inner).index(args.c).index(args.inner).arg(args.alpha);
  return launch;
}

void batch_norm_train(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  const BatchNorm norm(device, args);
  Launch second = normalize(norm, args, false);
  second.build();
  norm.statistics();
  norm.over_elements(second);
}

void batch_norm_infer(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  const BatchNorm norm(device, args, true);
  Launch launch = normalize(norm, args, true);
  norm.over_elements(launch);
}

void batch_norm_apply(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  const BatchNorm norm(device, args);
  Launch launch = normalize(norm, args, false);
  norm.over_elements(launch);
}

void batch_norm_backward(OpenclDevice& device, const BatchNormArgs& args) {
  if (args.n * args.c * args.inner == 0) return;
  const BatchNorm norm(device, args);
  Tensor sums(Shape{2, args.c}, DType::f32, args.x->device());
  Launch second = norm.per_element("backward");
  second.arg(static_cast<float>(args.n * args.inner))
      .in(*args.x)
      .in(*args.dy)
      .in(*args.gamma)
      .in(*args.mean)
      .in(*args.inv_std)
      .in(sums)
      .out(*args.dx);
  second.build();
  norm.gradients(sums);
  norm.over_elements(second);
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
