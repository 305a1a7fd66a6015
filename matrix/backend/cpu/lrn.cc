// SPDX-License-Identifier: MIT
// Local response normalization across channels. Processes a block of positions through all
// channels, so that the squares stay in the cache.
#include "matrix/backend/operations/lrn.h"

#include <algorithm>
#include <cstring>

#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kScratch = 32768;  // maximum floats of squares in one block

/// The number of positions in one block, at least one vector.
int64_t block_width(const LrnArgs& args) {
  int64_t fits = kScratch / std::max<int64_t>(1, args.c);
  return std::min(args.inner, std::clamp<int64_t>(fits, 64, 1024));
}

/// Channels [first, last) that contribute to channel c: size/2 before it, (size-1)/2 after it.
struct Window {
  int64_t first, last;
};
Window window(int64_t c, int64_t before, int64_t after, int64_t channels) {
  return {before > c ? 0 : c - before, after >= channels - c ? channels : c + after + 1};
}

/// Calls body(offset of channel 0, positions) for each block, in parallel.
template <class Body>
void for_each_block(const LrnArgs& args, int64_t width, Body body) {
  int64_t blocks = width ? ceil_div(args.inner, width) : 0;
  parallel_for(args.n * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = i % blocks * width;
      body(i / blocks * args.c * args.inner + first, std::min(width, args.inner - first));
    }
  });
}

/// d = k + alpha/size * (the sum of squares over the window of channel c).
void denominator(const LrnArgs& args, const float* x, int64_t c, float* d, size_t count) {
  Window w = window(c, args.size / 2, (args.size - 1) / 2, args.c);
  cpu::sum_squared_rows(x + w.first * args.inner, static_cast<size_t>(w.last - w.first),
                        static_cast<size_t>(args.inner), args.alpha / static_cast<float>(args.size),
                        args.k, d, count);
}

void lrn_forward(const LrnArgs& args) {
  const float* x = args.x->data<float>();
  float* y = args.out->overwrite<float>();
  int64_t width = block_width(args);
  for_each_block(args, width, [&](int64_t offset, int64_t positions) {
    auto count = static_cast<size_t>(positions);
    float* d = cpu::thread_scratch(static_cast<size_t>(width));
    for (int64_t c = 0; c < args.c; ++c) {
      denominator(args, x + offset, c, d, count);
      cpu::divide_by_power(x + offset + c * args.inner, d, args.beta, y + offset + c * args.inner,
                           count);
    }
  });
}

/// dx[i] = dy[i] * d[i]^-beta - 2 alpha beta / size * x[i] * (the sum of dy[j] y[j] / d[j] over the
/// channels j with i in their window).
void lrn_backward(const LrnArgs& args) {
  const float* x = args.x->data<float>();
  const float* y = args.y_in->data<float>();
  const float* dy = args.dy->data<float>();
  float* dx = args.out->overwrite<float>();
  int64_t width = block_width(args);
  float factor = -2 * args.alpha * args.beta / static_cast<float>(args.size);
  for_each_block(args, width, [&](int64_t offset, int64_t positions) {
    auto count = static_cast<size_t>(positions);
    float* ratio = cpu::thread_scratch(static_cast<size_t>((2 * args.c + 1) * width));
    float* direct = ratio + args.c * width;
    float* sum = direct + args.c * width;
    for (int64_t c = 0; c < args.c; ++c) {
      int64_t at = offset + c * args.inner;
      denominator(args, x + offset, c, sum, count);
      cpu::divide_by_power(dy + at, sum, args.beta, direct + c * width, count);
      cpu::product_quotient(dy + at, y + at, sum, ratio + c * width, count);
    }
    for (int64_t c = 0; c < args.c; ++c) {
      int64_t at = offset + c * args.inner;
      Window w = window(c, (args.size - 1) / 2, args.size / 2, args.c);
      cpu::sum_rows(ratio + w.first * width, static_cast<size_t>(w.last - w.first),
                    static_cast<size_t>(width), sum, count);
      cpu::add_scaled_product(direct + c * width, x + at, sum, factor, dx + at, count);
    }
  });
}

}  // namespace

namespace cpu {

void add_lrn(KernelTable& kernels) {
  kernels.add(kLrnForward, lrn_forward);
  kernels.add(kLrnBackward, lrn_backward);
}

}  // namespace cpu

}  // namespace kaiseki
