// SPDX-License-Identifier: MIT
// Reductions and scans of every element type over the middle of [outer, n, inner]. The shape alone
// determines the pieces, so the number of threads does not change the result.
#include "matrix/backend/operations/fold.h"

#include <algorithm>
#include <memory>

#include "matrix/backend/cpu/fold_rules.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 32768;   // elements that a task reads
constexpr int64_t kColumns = 512;  // of a task

/// Reduces rows of `columns` values, `stride` apart.
template <class Rule, typename In>
void fold_rows(const In* x, int64_t rows, int64_t stride, int64_t columns,
               typename Rule::Value* total) {
  if (stride == 1) {
    typename Rule::Value sum = Rule::kStart;
    for (int64_t i = 0; i < rows; ++i) sum = Rule::join(sum, Rule::of(x[i]));
    *total = sum;
    return;
  }
  std::fill_n(total, columns, Rule::kStart);
  for (int64_t i = 0; i < rows; ++i, x += stride)
    for (int64_t j = 0; j < columns; ++j) total[j] = Rule::join(total[j], Rule::of(x[j]));
}

template <class Rule, typename In>
void fold_with(const FoldArgs& args) {
  using Value = typename Rule::Value;
  const In* x = args.input->data<In>();
  auto* out = args.output->overwrite<typename Rule::Result>();
  const int64_t inner = args.inner, columns = std::clamp<int64_t>(inner, 1, kColumns);
  const int64_t blocks = ceil_div(inner, columns), rows = kWork / columns;
  const int64_t pieces = std::max<int64_t>(1, ceil_div(args.n, rows));
  // Not a std::vector, because that of bool has no elements in memory.
  const auto partial = std::make_unique<Value[]>(static_cast<size_t>(args.outer * pieces * inner));
  const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, args.n * columns));
  parallel_for(args.outer * pieces * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t piece = i / blocks, column = i % blocks * columns;
      const int64_t outer = piece / pieces, first = piece % pieces * rows;
      fold_rows<Rule>(x + (outer * args.n + first) * inner + column, std::min(rows, args.n - first),
                      inner, std::min(columns, inner - column),
                      partial.get() + piece * inner + column);
    }
  });
  parallel_for(args.outer * inner, std::max<int64_t>(1, kWork / pieces),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const Value* piece = partial.get() + i / inner * pieces * inner + i % inner;
                   Value total = piece[0];
                   for (int64_t p = 1; p < pieces; ++p) total = Rule::join(total, piece[p * inner]);
                   out[i] = static_cast<typename Rule::Result>(total);
                 }
               });
}

template <class Rule, typename In>
void scan_with(const ScanArgs& args) {
  using Value = typename Rule::Value;
  using Result = typename Rule::Result;
  const In* x = args.input->data<In>();
  auto* out = args.output->overwrite<Result>();
  const int64_t n = args.n, inner = args.inner;
  parallel_for(args.outer * inner, std::max<int64_t>(1, kWork / n),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t first = i / inner * n * inner + i % inner;
                   Value total = Rule::kStart;
                   for (int64_t at = first; at < first + n * inner; at += inner) {
                     total = Rule::join(total, Rule::of(x[at]));
                     out[at] = static_cast<Result>(total);
                   }
                 }
               });
}

void fold(const FoldArgs& args) {
  with_type(args.input->dtype(), [&](auto zero) {
    using In = decltype(zero);
    cpu::with_rule<In>(args.kind, [&](auto rule) { fold_with<decltype(rule), In>(args); });
  });
}

void scan(const ScanArgs& args) {
  with_type(args.input->dtype(), [&](auto zero) {
    using In = decltype(zero);
    cpu::with_rule<In>(args.kind, [&](auto rule) { scan_with<decltype(rule), In>(args); });
  });
}

}  // namespace

namespace cpu {

void add_fold(KernelTable& kernels) {
  kernels.add(kFold, fold);
  kernels.add(kScan, scan);
}

}  // namespace cpu

}  // namespace kaiseki
