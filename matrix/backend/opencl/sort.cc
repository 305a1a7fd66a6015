// SPDX-License-Identifier: MIT
// The order of rows by a bitonic sort, and positions in sorted vectors.
#include "matrix/backend/operations/sort.h"

#include <bit>

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/kernels.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/text.h"

namespace kaiseki::opencl {
namespace {

std::string options(const Tensor& x) {
  return joined({"-DTYPE=", type_name(x.dtype()), x.dtype() == DType::f32 ? "" : " -DINTEGER"});
}

void argsort(OpenclDevice& device, const ArgsortArgs& args) {
  const std::string defines = options(*args.input);
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(args.n)));
  const int64_t total = args.rows * padded;
  Tensor pairs(Shape{total * static_cast<int64_t>(sizeof(cl_ulong))}, DType::u8,
               args.output->device());
  Launch(device, "sort.cl", "sort_pairs", defines)
      .index(total)
      .index(args.n)
      .index(padded)
      .arg(static_cast<int32_t>(args.descending))
      .in(*args.input)
      .out(pairs)
      .over(total);
  for (int64_t block = 2; block <= padded; block *= 2)
    for (int64_t reach = block / 2; reach > 0; reach /= 2)
      Launch(device, "sort.cl", "sort_step", defines)
          .index(total / 2)
          .index(padded)
          .index(block)
          .index(reach)
          .in_out(pairs)
          .over(total / 2);
  Launch(device, "sort.cl", "sort_indices", defines)
      .index(args.rows * args.n)
      .index(args.n)
      .index(padded)
      .in(pairs)
      .out(*args.output)
      .over(args.rows * args.n);
}

void search_sorted(OpenclDevice& device, const SearchSortedArgs& args) {
  const int64_t items = args.values->size();
  Launch(device, "sort.cl", "search_sorted", options(*args.values))
      .index(items)
      .index(args.n)
      .arg(static_cast<int32_t>(args.right))
      .in(*args.sorted)
      .in(*args.values)
      .out(*args.output)
      .over(items);
}

}  // namespace

void add_sort(OpenclKernels& kernels) {
  kernels.add(kArgsort, argsort);
  kernels.add(kSearchSorted, search_sorted);
}

}  // namespace kaiseki::opencl
