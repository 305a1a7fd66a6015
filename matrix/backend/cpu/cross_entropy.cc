// SPDX-License-Identifier: MIT
// Softmax cross-entropy of rows, forward and backward.
#include "matrix/backend/operations/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 8192;  // elements per task

void cross_entropy_forward(const CrossEntropyArgs& args) {
  const float* logits = args.logits->data<float>();
  const int32_t* labels = args.labels->data<int32_t>();
  float* probabilities = args.probabilities->overwrite<float>();
  float* losses = args.losses->overwrite<float>();
  auto n = static_cast<size_t>(args.classes);
  parallel_for(args.rows, std::max<int64_t>(1, kWork / args.classes),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const float* x = logits + row * args.classes;
                   float* p = probabilities + row * args.classes;
                   int32_t label = labels[row];
                   float largest = cpu::maximum(x, n);
                   double target = label < 0 ? 0 : static_cast<double>(x[label]) - largest;
                   double sum = cpu::exp_shifted(x, largest, p, n);
                   cpu::affine(p, static_cast<float>(1 / sum), 0, p, n);
                   losses[row] = label < 0 ? 0 : static_cast<float>(std::log(sum) - target);
                 }
               });
}

void cross_entropy_backward(const CrossEntropyArgs& args) {
  const float* probabilities = args.probabilities_in->data<float>();
  const int32_t* labels = args.labels->data<int32_t>();
  float* gradient = args.grad_logits->overwrite<float>();
  auto n = static_cast<size_t>(args.classes);
  parallel_for(args.rows, std::max<int64_t>(1, kWork / args.classes),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const float* p = probabilities + row * args.classes;
                   float* g = gradient + row * args.classes;
                   int32_t label = labels[row];
                   if (label < 0) {
                     std::fill_n(g, n, 0.0f);
                     continue;
                   }
                   float at_label = args.scale * (p[label] - 1);
                   cpu::affine(p, args.scale, 0, g, n);
                   g[label] = at_label;
                 }
               });
}

}  // namespace

namespace cpu {

void add_cross_entropy(KernelTable& kernels) {
  kernels.add(kCrossEntropyForward, cross_entropy_forward);
  kernels.add(kCrossEntropyBackward, cross_entropy_backward);
}

}  // namespace cpu

}  // namespace kaiseki
