// SPDX-License-Identifier: MIT
// The first index of the largest or smallest value along one axis.
#include <algorithm>
#include <cmath>

#include "matrix/backend/cpu/is_nan.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/threads.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 32768;

int64_t find_in_row(const float* x, int64_t n, bool maximum) {
  auto count = static_cast<size_t>(n);
  float extreme = maximum ? cpu::maximum(x, count) : cpu::minimum(x, count);
  const float* found = std::isnan(extreme)
                           ? std::find_if(x, x + n, [](float v) { return std::isnan(v); })
                           : std::find(x, x + n, extreme);
  return found - x;
}

template <typename T>
int64_t find_in_column(const T* x, int64_t n, int64_t stride, bool maximum) {
  int64_t best = 0;
  for (int64_t i = 1; i < n && !cpu::is_nan(x[best * stride]); ++i) {
    const T value = x[i * stride], current = x[best * stride];
    if (cpu::is_nan(value) || (maximum ? value > current : value < current)) best = i;
  }
  return best;
}

template <typename T>
void arg_reduce_typed(const ArgReduceArgs& args) {
  const T* x = args.input->data<T>();
  int32_t* out = args.output->overwrite<int32_t>();
  const int64_t n = args.n, inner = args.inner;
  auto find = [&](const T* first) {
    if constexpr (std::is_same_v<T, float>)
      if (inner == 1) return find_in_row(first, n, args.maximum);
    return find_in_column(first, n, inner, args.maximum);
  };
  parallel_for(args.outer * inner, std::max<int64_t>(1, kWork / n),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   out[i] = static_cast<int32_t>(find(x + i / inner * n * inner + i % inner));
               });
}

void arg_reduce(const ArgReduceArgs& args) {
  with_type(args.input->dtype(), [&](auto zero) { arg_reduce_typed<decltype(zero)>(args); });
}

}  // namespace

namespace cpu {

void add_arg_reduce(KernelTable& kernels) { kernels.add(kArgReduce, arg_reduce); }

}  // namespace cpu

}  // namespace kaiseki
