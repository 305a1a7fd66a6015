// SPDX-License-Identifier: MIT
// Softmax, log-softmax and softmax cross-entropy.
#include "matrix/backend/operations/softmax.h"

#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/operations/cross_entropy.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kGroup = 64;

int64_t group_for(const OpenclDevice& device, int64_t n) {
  return device.style() == Style::gpu && n > 2 * kGroup &&
                 device.facts().max_work_group >= static_cast<size_t>(kGroup)
             ? kGroup
             : 1;
}

void over_rows(Launch& launch, int64_t rows, int64_t group) {
  if (group == 1)
    launch.over(rows);
  else
    launch.over_groups({static_cast<size_t>(rows), 1, 1}, {static_cast<size_t>(group), 1, 1});
}

void softmax_forward(OpenclDevice& device, const SoftmaxArgs& args) {
  int64_t rows = args.outer * args.inner, group = group_for(device, args.n);
  if (rows == 0 || args.n == 0) return;
  Launch launch(device, "softmax.cl", "softmax_forward",
                define("LOG", args.log) + define("GROUP", group));
  launch.index(rows).index(args.n).index(args.inner).in(*args.x).out(*args.out);
  over_rows(launch, rows, group);
}

void softmax_backward(OpenclDevice& device, const SoftmaxArgs& args) {
  int64_t rows = args.outer * args.inner, group = group_for(device, args.n);
  if (rows == 0 || args.n == 0) return;
  Launch launch(device, "softmax.cl", "softmax_backward",
                define("LOG", args.log) + define("GROUP", group));
  launch.index(rows).index(args.n).index(args.inner).in(*args.y_in).in(*args.dy).out(*args.out);
  over_rows(launch, rows, group);
}

void cross_entropy_forward(OpenclDevice& device, const CrossEntropyArgs& args) {
  Launch(device, "cross_entropy.cl", "cross_entropy_forward")
      .index(args.rows)
      .index(args.classes)
      .in(*args.logits)
      .in(*args.labels)
      .out(*args.probabilities)
      .out(*args.losses)
      .over(args.rows);
}

void cross_entropy_backward(OpenclDevice& device, const CrossEntropyArgs& args) {
  int64_t total = args.rows * args.classes;
  Launch(device, "cross_entropy.cl", "cross_entropy_backward")
      .index(total)
      .index(args.classes)
      .arg(args.scale)
      .in(*args.probabilities_in)
      .in(*args.labels)
      .out(*args.grad_logits)
      .over(total);
}

}  // namespace

void add_softmax(OpenclKernels& kernels) {
  kernels.add(kSoftmaxForward, softmax_forward);
  kernels.add(kSoftmaxBackward, softmax_backward);
  kernels.add(kCrossEntropyForward, cross_entropy_forward);
  kernels.add(kCrossEntropyBackward, cross_entropy_backward);
}

}  // namespace kaiseki::opencl
