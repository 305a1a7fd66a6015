// SPDX-License-Identifier: MIT
// Takes, puts and adds elements by index along one axis. For put and add_at, each task owns some
// columns of x. Elements therefore change in the same order for any number of threads.
#include "matrix/backend/operations/index.h"

#include <algorithm>
#include <cstring>

#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 16384;
constexpr int64_t kColumns = 256;

/// Rows of [outer, n, inner] and [outer, count, inner] for the same index.
class IndexWalk {
 public:
  explicit IndexWalk(const IndexArgs& args)
      : args_(args), indices_(args.indices->data<int32_t>()) {}

  /// The position in x of element `column` of the selected row j.
  int64_t x(int64_t outer, int64_t j, int64_t column) const {
    const int64_t at = args_.shared ? j : (outer * args_.count + j) * args_.inner + column;
    const int64_t index = indices_[at] < 0 ? indices_[at] + args_.n : indices_[at];
    return (outer * args_.n + index) * args_.inner + column;
  }
  int64_t selected(int64_t outer, int64_t j, int64_t column) const {
    return (outer * args_.count + j) * args_.inner + column;
  }

 private:
  const IndexArgs& args_;
  const int32_t* indices_;
};

template <typename T>
void take_typed(const IndexArgs& args) {
  auto* from = static_cast<const T*>(args.from->host_pointer(Access::read));
  bool whole = args.to->bytes() == args.to->buffer().bytes();
  auto* to = static_cast<T*>(args.to->host_pointer(whole ? Access::write : Access::read_write));
  const IndexWalk walk(args);
  parallel_for(args.outer * args.count, std::max<int64_t>(1, kWork / args.inner),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t outer = i / args.count, j = i % args.count;
                   if (args.shared)
                     std::memcpy(to + i * args.inner, from + walk.x(outer, j, 0),
                                 static_cast<size_t>(args.inner) * sizeof(T));
                   else
                     for (int64_t c = 0; c < args.inner; ++c)
                       to[i * args.inner + c] = from[walk.x(outer, j, c)];
                 }
               });
}

/// Calls apply(x, selected, length) for runs of columns, in the order of the indices.
template <class Apply>
void for_each_run(const IndexArgs& args, const Apply& apply) {
  const IndexWalk walk(args);
  const int64_t columns = args.outer * args.inner;
  const int64_t grain = args.count * columns <= kWork ? columns : kColumns;
  parallel_for(columns, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t outer = begin / args.inner, column = begin % args.inner;
      const int64_t length = args.shared ? std::min(args.inner - column, end - begin) : 1;
      for (int64_t j = 0; j < args.count; ++j)
        apply(walk.x(outer, j, column), walk.selected(outer, j, column),
              static_cast<size_t>(length));
      begin += length;
    }
  });
}

void take(const IndexArgs& args) {
  switch (dtype_size(args.from->dtype())) {
    case 1:
      return take_typed<uint8_t>(args);
    case 4:
      return take_typed<uint32_t>(args);
    default:
      return take_typed<uint64_t>(args);
  }
}

void put(const IndexArgs& args) {
  const size_t size = dtype_size(args.to->dtype());
  auto* from = static_cast<const std::byte*>(args.from->host_pointer(Access::read));
  auto* to = static_cast<std::byte*>(args.to->host_pointer(Access::read_write));
  for_each_run(args, [&](int64_t x, int64_t selected, size_t length) {
    std::memcpy(to + static_cast<size_t>(x) * size, from + static_cast<size_t>(selected) * size,
                length * size);
  });
}

void add_at(const IndexArgs& args) {
  if (args.to->dtype() == DType::f32) {
    const float* from = args.from->data<float>();
    float* to = args.to->mutable_data<float>();
    return for_each_run(args, [&](int64_t x, int64_t selected, size_t length) {
      cpu::add_to(to + x, from + selected, length);
    });
  }
  auto* from = reinterpret_cast<const uint32_t*>(args.from->data<int32_t>());
  auto* to = reinterpret_cast<uint32_t*>(args.to->mutable_data<int32_t>());
  for_each_run(args, [&](int64_t x, int64_t selected, size_t length) {
    for (size_t i = 0; i < length; ++i)
      to[x + static_cast<int64_t>(i)] += from[selected + static_cast<int64_t>(i)];
  });
}

}  // namespace

namespace cpu {

void add_index(KernelTable& kernels) {
  kernels.add(kTake, take);
  kernels.add(kPut, put);
  kernels.add(kAddAt, add_at);
}

}  // namespace cpu

}  // namespace kaiseki
