// SPDX-License-Identifier: MIT
// Gathers rows by index, and adds rows back into a table. Each task owns some columns of the table.
// Rows are therefore added in the same order for any number of threads.
#include "matrix/backend/operations/gather.h"

#include <algorithm>
#include <cstring>

#include "matrix/backend/cpu/kernels.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 16384;
constexpr int64_t kColumns = 256;

void gather(const GatherArgs& args) {
  auto* table = static_cast<const char*>(args.table->host_pointer(Access::read));
  const int32_t* rows = args.rows->data<int32_t>();
  int64_t row_bytes = args.width * static_cast<int64_t>(dtype_size(args.table->dtype()));
  bool whole = args.output->bytes() == args.output->buffer().bytes();
  auto* out =
      static_cast<char*>(args.output->host_pointer(whole ? Access::write : Access::read_write));
  parallel_for(args.count, std::max<int64_t>(1, 4 * kWork / std::max<int64_t>(1, row_bytes)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   std::memcpy(out + i * row_bytes, table + rows[i] * row_bytes,
                               static_cast<size_t>(row_bytes));
               });
}

void scatter_add(const GatherArgs& args) {
  const float* source = args.source->data<float>();
  const int32_t* rows = args.rows->data<int32_t>();
  float* table = args.table_out->mutable_data<float>();
  int64_t grain = args.count * args.width <= kWork ? std::max<int64_t>(1, args.width) : kColumns;
  parallel_for(args.width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < args.count; ++i)
      cpu::add_to(table + rows[i] * args.width + begin, source + i * args.width + begin,
                  static_cast<size_t>(end - begin));
  });
}

}  // namespace

void cpu::add_gather(KernelTable& kernels) {
  kernels.add(kGather, gather);
  kernels.add(kScatterAdd, scatter_add);
}

}  // namespace kaiseki
