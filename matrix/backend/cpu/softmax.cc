// SPDX-License-Identifier: MIT
// Softmax and log-softmax over the middle axis of [outer, n, inner]. If inner > 1, columns are
// first gathered into rows of a small block.
#include "matrix/backend/operations/softmax.h"

#include <algorithm>
#include <cmath>

#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 8192;   // elements per task
constexpr int64_t kColumns = 16;  // columns transposed together

void forward_row(bool log, const float* x, float* y, int64_t size) {
  auto n = static_cast<size_t>(size);
  float largest = cpu::maximum(x, n);
  if (log) {
    double sum = cpu::sum_exp_shifted(x, largest, n);
    // Subtracts twice: largest + log(sum) in float would lose the small term.
    cpu::affine(x, 1, -largest, y, n);
    cpu::affine(y, 1, -static_cast<float>(std::log(sum)), y, n);
  } else {
    double sum = cpu::exp_shifted(x, largest, y, n);
    cpu::affine(y, static_cast<float>(1 / sum), 0, y, n);
  }
}

void backward_row(bool log, const float* y, const float* dy, float* dx, int64_t size) {
  auto n = static_cast<size_t>(size);
  if (log)
    cpu::subtract_scaled_exp(dy, y, static_cast<float>(cpu::sum(dy, n)), dx, n);
  else
    cpu::multiply_centered(y, dy, static_cast<float>(cpu::dot(y, dy, n)), dx, n);
}

/// Calls row(a, b, out) for each of the outer * inner rows, with contiguous values. b may be null.
template <class Row>
void for_each_row(const SoftmaxArgs& args, const float* a, const float* b, float* out, Row row) {
  int64_t n = args.n, inner = args.inner;
  if (inner == 1) {
    parallel_for(args.outer, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) row(a + i * n, b ? b + i * n : nullptr, out + i * n);
    });
    return;
  }
  int64_t blocks = ceil_div(inner, kColumns);
  parallel_for(args.outer * blocks, std::max<int64_t>(1, kWork / (n * kColumns)),
               [&](int64_t begin, int64_t end) {
                 float* rows = cpu::thread_scratch(static_cast<size_t>(2 * n * kColumns));
                 float* rows_b = rows + n * kColumns;
                 for (int64_t i = begin; i < end; ++i) {
                   int64_t column = i % blocks * kColumns;
                   int64_t width = std::min(kColumns, inner - column);
                   int64_t first = i / blocks * n * inner + column;
                   for (int64_t k = 0; k < n; ++k)
                     for (int64_t j = 0; j < width; ++j) {
                       rows[j * n + k] = a[first + k * inner + j];
                       if (b) rows_b[j * n + k] = b[first + k * inner + j];
                     }
                   for (int64_t j = 0; j < width; ++j)
                     row(rows + j * n, rows_b + j * n, rows + j * n);
                   for (int64_t k = 0; k < n; ++k)
                     for (int64_t j = 0; j < width; ++j)
                       out[first + k * inner + j] = rows[j * n + k];
                 }
               });
}

void softmax_forward(const SoftmaxArgs& args) {
  const float* x = args.x->data<float>();
  float* y = args.out->overwrite<float>();
  for_each_row(args, x, nullptr, y, [&](const float* from, const float*, float* to) {
    forward_row(args.log, from, to, args.n);
  });
}

void softmax_backward(const SoftmaxArgs& args) {
  const float* y = args.y_in->data<float>();
  const float* dy = args.dy->data<float>();
  float* dx = args.out->overwrite<float>();
  for_each_row(args, y, dy, dx, [&](const float* value, const float* gradient, float* to) {
    backward_row(args.log, value, gradient, to, args.n);
  });
}

}  // namespace

namespace cpu {

void add_softmax(KernelTable& kernels) {
  kernels.add(kSoftmaxForward, softmax_forward);
  kernels.add(kSoftmaxBackward, softmax_backward);
}

}  // namespace cpu

}  // namespace kaiseki
