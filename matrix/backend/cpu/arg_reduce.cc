// SPDX-License-Identifier: MIT
// The first index of the largest or smallest value along one axis.
#include <algorithm>
#include <cmath>

#include "matrix/backend/cpu/kernels.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 32768;

int32_t find_in_row(const float* x, int64_t n, bool maximum) {
  auto count = static_cast<size_t>(n);
  float extreme = maximum ? cpu::maximum(x, count) : cpu::minimum(x, count);
  const float* found = std::isnan(extreme)
                           ? std::find_if(x, x + n, [](float v) { return std::isnan(v); })
                           : std::find(x, x + n, extreme);
  return static_cast<int32_t>(found - x);
}

int32_t find_in_column(const float* x, int64_t n, int64_t stride, bool maximum) {
  int64_t best = 0;
  for (int64_t i = 1; i < n && !std::isnan(x[best * stride]); ++i) {
    float value = x[i * stride], current = x[best * stride];
    if (std::isnan(value) || (maximum ? value > current : value < current)) best = i;
  }
  return static_cast<int32_t>(best);
}

void arg_reduce(const ArgReduceArgs& args) {
  const float* x = args.input->data<float>();
  int32_t* out = args.output->overwrite<int32_t>();
  int64_t n = args.n, inner = args.inner;
  parallel_for(args.outer * inner, std::max<int64_t>(1, kWork / n),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const float* first = x + i / inner * n * inner + i % inner;
                   out[i] = inner == 1 ? find_in_row(first, n, args.maximum)
                                       : find_in_column(first, n, inner, args.maximum);
                 }
               });
}

}  // namespace

void cpu::add_arg_reduce(KernelTable& kernels) { kernels.add(kArgReduce, arg_reduce); }

}  // namespace kaiseki
