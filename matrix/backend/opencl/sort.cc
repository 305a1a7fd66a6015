// SPDX-License-Identifier: MIT
// The order of rows by a bitonic sort, and positions in sorted vectors.
#include "matrix/backend/operations/sort.h"

#include <algorithm>
#include <bit>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

std::string options(const Tensor& x) {
  return joined({"-DTYPE=", type_name(x.dtype()), x.dtype() == DType::f32 ? "" : " -DINTEGER"});
}

constexpr int64_t kMostLeading = 64;
constexpr int64_t kItems = 1024;      // rows of long pieces are cut until there are this many
constexpr int64_t kLeastPiece = 512;  // elements

/// Keeps the first pairs of each piece of a row in registers, for few of them.
void select_first(OpenclDevice& device, const ArgsortArgs& args) {
  const auto kept = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(8, args.leading))));
  const std::string defines = options(*args.input) + define("LEADING", kept);
  const int64_t wanted = ceil_div(kItems, args.rows);
  const int64_t pieces = std::clamp<int64_t>(args.n / std::max(kLeastPiece, 8 * kept), 1, wanted);
  const int64_t piece = ceil_div(args.n, pieces), items = args.rows * pieces;
  Tensor pairs(Shape{items * kept * static_cast<int64_t>(sizeof(cl_ulong))}, DType::u8,
               args.output->device());
  Launch(device, "sort.cl", "first_pairs", defines)
      .index(items)
      .index(args.n)
      .index(pieces)
      .index(piece)
      .arg(static_cast<int32_t>(args.descending))
      .in(*args.input)
      .out(pairs)
      .over(items);
  Launch(device, "sort.cl", "first_indices", defines)
      .index(args.rows)
      .index(args.n)
      .index(pieces)
      .index(args.leading)
      .in(pairs)
      .out(*args.output)
      .over(args.rows);
}

void argsort(OpenclDevice& device, const ArgsortArgs& args) {
  if (args.input->dtype() == DType::f64)  // has no key of 32 bits
    return count_missing_operation("argsort of f64", args.input->device()).run(kArgsort, args);
  if (args.leading <= kMostLeading && 8 * args.leading <= args.n) return select_first(device, args);
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
