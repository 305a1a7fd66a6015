// SPDX-License-Identifier: MIT
// Reductions and scans of every element type over the middle of [outer, n, inner]. The shape alone
// determines the pieces, so the number of threads does not change the result.
#include "matrix/backend/operations/fold.h"

#include <algorithm>
#include <memory>

#include "matrix/backend/cpu/fold_rules.h"
#include "matrix/backend/cpu/kernels.h"
#include "matrix/backend/cpu/with_type.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 32768;  // elements that a task reads

template <class Rule, typename In>
void fold_rows(const In* x, int64_t rows, int64_t inner, typename Rule::Value* total) {
  if (inner == 1) {
    typename Rule::Value sum = Rule::kStart;
    for (int64_t i = 0; i < rows; ++i) sum = Rule::join(sum, Rule::of(x[i]));
    *total = sum;
    return;
  }
  std::fill_n(total, inner, Rule::kStart);
  for (int64_t i = 0; i < rows; ++i, x += inner)
    for (int64_t j = 0; j < inner; ++j) total[j] = Rule::join(total[j], Rule::of(x[j]));
}

template <class Rule, typename In>
void fold_with(const FoldArgs& args) {
  using Value = typename Rule::Value;
  const In* x = args.input->data<In>();
  auto* out = args.output->overwrite<typename Rule::Result>();
  const int64_t inner = args.inner, rows = std::max<int64_t>(1, kWork / inner);
  const int64_t pieces = std::max<int64_t>(1, (args.n + rows - 1) / rows);
  // Not a std::vector, because that of bool has no elements in memory.
  const auto partial = std::make_unique<Value[]>(static_cast<size_t>(args.outer * pieces * inner));
  const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, args.n * inner));
  parallel_for(args.outer * pieces, pieces > 1 ? 1 : grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / pieces, first = i % pieces * rows;
      fold_rows<Rule>(x + (outer * args.n + first) * inner, std::min(rows, args.n - first), inner,
                      partial.get() + i * inner);
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
  cpu::with_type(args.input->dtype(), [&](auto zero) {
    using In = decltype(zero);
    cpu::with_rule<In>(args.kind, [&](auto rule) { fold_with<decltype(rule), In>(args); });
  });
}

void scan(const ScanArgs& args) {
  cpu::with_type(args.input->dtype(), [&](auto zero) {
    using In = decltype(zero);
    cpu::with_rule<In>(args.kind, [&](auto rule) { scan_with<decltype(rule), In>(args); });
  });
}

}  // namespace

void cpu::add_fold(KernelTable& kernels) {
  kernels.add(kFold, fold);
  kernels.add(kScan, scan);
}

}  // namespace kaiseki
