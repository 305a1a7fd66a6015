// SPDX-License-Identifier: MIT
// Reductions: one pass for each run of reduced axes, from the last to the first. Long runs take two
// steps.
#include "matrix/backend/operations/reduce.h"

#include <algorithm>
#include <optional>

#include "matrix/backend/opencl/element_types.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kChunk = 8192;  // elements of a row per piece
constexpr int64_t kGroup = 128;

enum Kind { kSum = 0, kMax = 1, kMin = 2, kSquares = 3 };

struct ReducePass {
  Kind kind;
  int64_t outer, n, inner;
  double scale, beta;
};

/// Reduces x[outer, n, inner] to y[outer, chunks, inner].
void step(OpenclDevice& device, const ReducePass& pass, int64_t chunk, int64_t chunks,
          const Tensor& x, Tensor& y) {
  bool row = pass.inner == 1;
  bool group = row && device.style() == Style::gpu && pass.n >= kGroup &&
               device.facts().max_work_group >= static_cast<size_t>(kGroup);
  Launch launch(device, "reduce.cl",
                group ? "reduce_row_group"
                : row ? "reduce_row"
                      : "reduce_column",
                define("KIND", pass.kind) + (group ? define("GROUP", kGroup) : ""));
  launch.index(pass.outer).index(pass.n);
  if (!row) launch.index(pass.inner);
  launch.index(chunk).index(chunks);
  launch.number(pass.scale, x.dtype()).number(pass.beta, x.dtype()).in(x);
  if (pass.beta == 0)
    launch.out(y);
  else
    launch.in_out(y);
  int64_t items = pass.outer * chunks * pass.inner;
  if (group)
    launch.over_groups({static_cast<size_t>(items), 1, 1}, {static_cast<size_t>(kGroup), 1, 1});
  else
    launch.over(items);
}

int64_t chunk_for(const ReducePass& pass) {
  int64_t outputs = pass.outer * pass.inner;
  if (pass.inner == 1 || outputs >= 4096) return kChunk;
  return std::max<int64_t>(64, pass.n * outputs / 4096);
}

void run(OpenclDevice& device, const ReducePass& pass, const Tensor& x, Tensor& y) {
  int64_t chunk = chunk_for(pass), chunks = std::max<int64_t>(1, ceil_div(pass.n, chunk));
  if (chunks == 1) return step(device, pass, chunk, 1, x, y);
  Tensor pieces(Shape{pass.outer * chunks * pass.inner}, y.dtype(), y.device());
  step(device, {pass.kind, pass.outer, pass.n, pass.inner, 1, 0}, chunk, chunks, x, pieces);
  Kind rest = pass.kind == kSquares ? kSum : pass.kind;
  run(device, {rest, pass.outer, chunks, pass.inner, pass.scale, pass.beta}, pieces, y);
}

void reduce(OpenclDevice& device, const ReduceArgs& args) {
  if (args.output->size() == 0) return;
  constexpr Kind kinds[] = {kSum, kSum, kMax, kMin, kSquares};
  Kind kind = kinds[static_cast<int>(args.kind)];
  int64_t count = 1;
  std::optional<int> first;
  for (int i = args.shape.rank() - 1; i >= 0; --i)
    if (args.reduced[i]) {
      count *= args.shape[i];
      first = i;
    }
  double scale = args.kind == Reduction::mean ? 1.0 / static_cast<double>(count) : 1.0;
  int64_t total = args.shape.elements(), inner = 1;
  if (!first || count == 0) {
    Tensor flat = *args.output;
    int64_t outputs = args.output->size();
    return run(device, {kind, outputs, count == 0 ? 0 : 1, 1, scale, args.beta}, *args.input, flat);
  }
  Tensor current = *args.input;
  int64_t left = total;
  for (int i = args.shape.rank() - 1; i >= *first; --i) {
    int64_t n = args.shape[i];
    left /= n;
    if (!args.reduced[i]) {
      inner *= n;
      continue;
    }
    bool last = i == *first;
    Tensor next =
        last ? *args.output : Tensor(Shape{left * inner}, current.dtype(), current.device());
    run(device, {kind, left, n, inner, last ? scale : 1.0, last ? args.beta : 0.0}, current, next);
    if (kind == kSquares) kind = kSum;
    current = next;
  }
}

void arg_reduce(OpenclDevice& device, const ArgReduceArgs& args) {
  int64_t items = args.outer * args.inner;
  Launch(device, "arg_reduce.cl", "arg_reduce",
         joined({define("MAXIMUM", args.maximum), " -DTYPE=", type_name(args.input->dtype())}))
      .index(items)
      .index(args.n)
      .index(args.inner)
      .in(*args.input)
      .out(*args.output)
      .over(items);
}

}  // namespace

void add_reduce(OpenclKernels& kernels) {
  kernels.add(kReduce, reduce);
  kernels.add(kArgReduce, arg_reduce);
}

}  // namespace kaiseki::opencl
