// SPDX-License-Identifier: MIT
// Softmax, log-softmax and softmax cross-entropy.
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/launch.h"

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

}  // namespace

void OpenclBackend::softmax_forward(const SoftmaxArgs& args) {
  int64_t rows = args.outer * args.inner, group = group_for(device_, args.n);
  if (rows == 0 || args.n == 0) return;
  Launch launch(device_, "softmax.cl", "softmax_forward",
                define("LOG", args.log) + define("GROUP", group));
  launch.index(rows).index(args.n).index(args.inner).in(*args.x).out(*args.out);
  over_rows(launch, rows, group);
}

void OpenclBackend::softmax_backward(const SoftmaxArgs& args) {
  int64_t rows = args.outer * args.inner, group = group_for(device_, args.n);
  if (rows == 0 || args.n == 0) return;
  Launch launch(device_, "softmax.cl", "softmax_backward",
                define("LOG", args.log) + define("GROUP", group));
  launch.index(rows).index(args.n).index(args.inner).in(*args.y_in).in(*args.dy).out(*args.out);
  over_rows(launch, rows, group);
}

void OpenclBackend::cross_entropy_forward(const CrossEntropyArgs& args) {
  Launch(device_, "cross_entropy.cl", "cross_entropy_forward")
      .index(args.rows)
      .index(args.classes)
      .in(*args.logits)
      .in(*args.labels)
      .out(*args.probabilities)
      .out(*args.losses)
      .over(args.rows);
}

void OpenclBackend::cross_entropy_backward(const CrossEntropyArgs& args) {
  int64_t total = args.rows * args.classes;
  Launch(device_, "cross_entropy.cl", "cross_entropy_backward")
      .index(total)
      .index(args.classes)
      .arg(args.scale)
      .in(*args.probabilities_in)
      .in(*args.labels)
      .out(*args.grad_logits)
      .over(total);
}

}  // namespace kaiseki::opencl
