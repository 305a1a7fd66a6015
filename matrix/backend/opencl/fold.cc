// SPDX-License-Identifier: MIT
// Reductions and scans of every element type. Long reductions take several steps.
#include "matrix/backend/operations/fold.h"

#include <algorithm>

#include "base/error.h"
#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kChunk = 1024;    // elements of an output per piece
constexpr int64_t kOutputs = 4096;  // with more outputs, pieces gain nothing

int kind_number(Reduction kind) {
  switch (kind) {
    case Reduction::sum:
      return 0;
    case Reduction::max:
      return 1;
    case Reduction::min:
      return 2;
    case Reduction::prod:
      return 3;
    case Reduction::any:
      return 4;
    case Reduction::all:
      return 5;
    case Reduction::mean:
    case Reduction::sum_of_squares:
      break;
  }
  throw Error(message("fold", "means and sums of squares are reductions of f32 and f64"));
}

std::string options(Reduction kind, const Tensor& in, const Tensor& out) {
  const bool sums = kind == Reduction::sum || kind == Reduction::prod;
  return joined({define("KIND", kind_number(kind)), " -DIN=", type_name(in.dtype()), " -DOUT=",
                 type_name(out.dtype()), sums && out.dtype() == DType::i32 ? " -DWRAPS" : ""});
}

void fold(OpenclDevice& device, const FoldArgs& args) {
  const int64_t outputs = args.outer * args.inner;
  const bool pieces = args.n > kChunk && outputs < kOutputs;
  const int64_t chunk = pieces ? kChunk : std::max<int64_t>(1, args.n);
  const int64_t chunks = pieces ? ceil_div(args.n, kChunk) : 1;
  Tensor partial;
  if (pieces)
    partial = Tensor(Shape{outputs * chunks}, args.output->dtype(), args.output->device());
  Tensor& target = pieces ? partial : *args.output;
  Launch(device, "fold.cl", "fold", options(args.kind, *args.input, target))
      .index(outputs * chunks)
      .index(args.n)
      .index(args.inner)
      .index(chunk)
      .index(chunks)
      .in(*args.input)
      .out(target)
      .over(outputs * chunks);
  if (pieces) fold(device, {args.kind, args.outer, chunks, args.inner, &partial, args.output});
}

void scan(OpenclDevice& device, const ScanArgs& args) {
  const int64_t items = args.outer * args.inner;
  Launch(device, "fold.cl", "scan", options(args.kind, *args.input, *args.output))
      .index(items)
      .index(args.n)
      .index(args.inner)
      .in(*args.input)
      .out(*args.output)
      .over(items);
}

}  // namespace

void add_fold(OpenclKernels& kernels) {
  kernels.add(kFold, fold);
  kernels.add(kScan, scan);
}

}  // namespace kaiseki::opencl
