// SPDX-License-Identifier: MIT
// Copies one triangle of each matrix, and clears the other.
#include "matrix/backend/operations/triangle.h"

#include <algorithm>
#include <cstring>

#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 65536;  // elements per task

void triangle(const TriangleArgs& args) {
  const size_t size = dtype_size(args.input->dtype());
  auto* from = static_cast<const std::byte*>(args.input->host_pointer(Access::read));
  auto* to = static_cast<std::byte*>(args.output->host_pointer(Access::write));
  const int64_t columns = args.columns, rows = args.input->size() / columns;
  parallel_for(rows, std::max<int64_t>(1, kWork / columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // The upper triangle begins at `cut`, the lower one ends there.
      const int64_t cut =
          std::clamp<int64_t>(i % args.rows + args.diagonal + (args.upper ? 0 : 1), 0, columns);
      const int64_t first = args.upper ? cut : 0, last = args.upper ? columns : cut;
      auto bytes = [&](int64_t n) { return static_cast<size_t>(n) * size; };
      const size_t row = bytes(i * columns);
      std::memset(to + row, 0, bytes(columns));
      std::memcpy(to + row + bytes(first), from + row + bytes(first), bytes(last - first));
    }
  });
}

}  // namespace

namespace cpu {

void add_triangle(KernelTable& kernels) { kernels.add(kTriangle, triangle); }

}  // namespace cpu

}  // namespace kaiseki
