// SPDX-License-Identifier: MIT
// Copies and fills.
#include "matrix/backend/operations/copy.h"

#include <algorithm>

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

struct CopyLayout {
  Shape dims, from, to;  // innermost last; axes that are contiguous on both sides are merged
};

CopyLayout collapse(const Tensor& from, const Tensor& to) {
  CopyLayout layout;
  for (int i = 0; i < from.rank(); ++i) {
    if (from.dim(i) == 1) continue;
    int last = layout.dims.rank() - 1;
    if (last >= 0 && layout.from[last] == from.dim(i) * from.strides()[i] &&
        layout.to[last] == to.dim(i) * to.strides()[i]) {
      layout.dims[last] *= from.dim(i);
      layout.from[last] = from.strides()[i];
      layout.to[last] = to.strides()[i];
    } else {
      layout.dims.push_back(from.dim(i));
      layout.from.push_back(from.strides()[i]);
      layout.to.push_back(to.strides()[i]);
    }
  }
  if (layout.dims.rank() == 0) layout.dims = layout.from = layout.to = Shape{1};
  return layout;
}

/// Returns whether both sides consist of long runs at equal distances.
bool is_rectangle(const CopyLayout& layout) {
  constexpr int64_t kLong = 32;
  return layout.dims.rank() == 2 && layout.dims[1] >= kLong && layout.from[1] == 1 &&
         layout.to[1] == 1 && layout.from[0] >= layout.dims[1] && layout.to[0] >= layout.dims[1];
}

void copy(OpenclDevice& device, const CopyArgs& args) {
  const Tensor& from = *args.from;
  Tensor& to = *args.to;
  if (from.size() == 0) return;
  size_t size = dtype_size(from.dtype());
  CopyLayout layout = collapse(from, to);
  int rank = layout.dims.rank();
  if (rank == 1 && layout.from[0] == 1 && layout.to[0] == 1 && !from.shares_storage_with(to)) {
    bool whole = to.bytes() == to.buffer().bytes();
    auto source = static_cast<cl_mem>(from.buffer().on_device(Access::read));
    auto target =
        static_cast<cl_mem>(to.buffer().on_device(whole ? Access::write : Access::read_write));
    device.enqueue("clEnqueueCopyBuffer", from.bytes() + to.bytes(), [&] {
      CommandTimer timer(device.timed_queue(), {"copy", "copy", from.bytes()});
      return cl().clEnqueueCopyBuffer(device.queue(), source, target, from.offset() * size,
                                      to.offset() * size, from.bytes(), 0, nullptr, timer.event());
    });
    device.used(source);
    return device.used(target);
  }
  if (is_rectangle(layout) && !from.shares_storage_with(to)) {
    auto source = static_cast<cl_mem>(from.buffer().on_device(Access::read));
    auto target = static_cast<cl_mem>(to.buffer().on_device(Access::read_write));
    auto bytes = [&](int64_t n) { return static_cast<size_t>(n) * size; };
    const size_t from_at[] = {bytes(from.offset()), 0, 0}, to_at[] = {bytes(to.offset()), 0, 0};
    const size_t region[] = {bytes(layout.dims[1]), static_cast<size_t>(layout.dims[0]), 1};
    device.enqueue("clEnqueueCopyBufferRect", from.bytes() + to.bytes(), [&] {
      CommandTimer timer(device.timed_queue(), {"copy", "copy", from.bytes()});
      return cl().clEnqueueCopyBufferRect(device.queue(), source, target, from_at, to_at, region,
                                          bytes(layout.from[0]), 0, bytes(layout.to[0]), 0, 0,
                                          nullptr, timer.event());
    });
    device.used(source);
    return device.used(target);
  }
  Launch launch(device, "copy.cl", "copy",
                joined({define("RANK", rank), " -DTYPE=", bits_name(from.dtype())}));
  launch.index(from.size());
  for (int i = 0; i < Shape::kMaxRank; ++i) launch.index(i < rank ? layout.dims[i] : 1);
  for (int i = 0; i < Shape::kMaxRank; ++i) launch.index(i < rank ? layout.from[i] : 0);
  for (int i = 0; i < Shape::kMaxRank; ++i) launch.index(i < rank ? layout.to[i] : 0);
  launch.in(from);
  (to.is_contiguous() ? launch.out(to) : launch.in_out(to)).over(from.size());
}

void fill(OpenclDevice& device, const FillArgs& args) {
  Tensor& t = *args.output;
  if (t.size() == 0) return;
  Launch(device, "fill.cl", "fill", joined({"-DTYPE=", type_name(t.dtype())}))
      .index(t.size())
      .number(args.value, t.dtype())
      .out(t)
      .over(t.size());
}

}  // namespace

void add_copy(OpenclKernels& kernels) {
  kernels.add(kCopy, copy);
  kernels.add(kFill, fill);
}

}  // namespace kaiseki::opencl
