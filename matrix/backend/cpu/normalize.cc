// SPDX-License-Identifier: MIT
#include "matrix/backend/operations/normalize.h"

#include <algorithm>

#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 16384;

void normalize(const NormalizeArgs& args) {
  const uint8_t* in = args.input->data<uint8_t>();
  const float* tables = args.table->data<float>();
  float* out = args.output->overwrite<float>();
  parallel_for(args.n * args.channels, std::max<int64_t>(1, kWork / args.inner),
               [&](int64_t begin, int64_t end) {
                 for (int64_t plane = begin; plane < end; ++plane) {
                   const float* table = tables + plane % args.channels * 256;
                   const uint8_t* from = in + plane * args.inner;
                   std::transform(from, from + args.inner, out + plane * args.inner,
                                  [table](uint8_t byte) { return table[byte]; });
                 }
               });
}

}  // namespace

namespace cpu {

void add_normalize(KernelTable& kernels) { kernels.add(kNormalize, normalize); }

}  // namespace cpu

}  // namespace kaiseki
