// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/gemm_thin.h"

#include <algorithm>

#include "matrix/backend/backend.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kRows = 16, kMostColumns = 12;  // of a work-item
constexpr int64_t kManyTerms = 64;                // from here on, vectors run along the terms
constexpr int64_t kMostSumRows = 32, kLeastTerms = 1024, kMostPieces = 64;

bool is_plain(const GemmArgs& args) {
  return args.batch == 1 && args.activation == Activation::none;
}

}  // namespace

bool has_few_columns(OpenclDevice&, const GemmArgs& args) {
  return is_plain(args) && !args.trans_a && args.trans_b && args.n <= kMostColumns &&
         args.m >= kRows && args.lda == args.k && args.ldb == args.k &&
         args.bias_kind != GemmArgs::Bias::per_row;
}

void gemm_few_columns(OpenclDevice& device, const GemmArgs& args) {
  const bool bias = args.bias_kind == GemmArgs::Bias::per_column;
  Launch launch(device, "cluster.cl", "row_products",
                " -DPRODUCTS" + define("CENTERS", args.n == 1 ? 1 : (args.n + 1) / 2 * 2) +
                    define("ALONG", args.k >= kManyTerms) + define("BIAS", bias));
  launch.index(args.m).index(args.k).index(args.n).index(args.ldc);
  launch.arg(static_cast<float>(args.alpha)).arg(static_cast<float>(args.beta));
  launch.in(*args.a).in(*args.b).optional(bias ? args.bias : nullptr).in_out(*args.c);
  launch.over(ceil_div(args.m, kRows));
}

bool has_few_rows(OpenclDevice&, const GemmArgs& args) {
  return is_plain(args) && args.trans_a && !args.trans_b && args.m <= kMostSumRows &&
         args.k >= kLeastTerms && args.alpha == 1 && args.bias_kind == GemmArgs::Bias::none &&
         args.ldc == args.n && args.c->is_contiguous() && args.c->size() == args.m * args.n;
}

void gemm_few_rows(OpenclDevice& device, const GemmArgs& args) {
  const int64_t pieces = std::clamp<int64_t>(args.k / (8 * args.m), 1, kMostPieces);
  Tensor partial({pieces, args.m * args.n}, DType::f32, args.c->device());
  Launch(device, "cluster.cl", "column_products")
      .index(args.m)
      .index(args.n)
      .index(args.k)
      .index(args.lda)
      .index(args.ldb)
      .index(pieces)
      .index(ceil_div(args.k, pieces))
      .in(*args.a)
      .in(*args.b)
      .out(partial)
      .over(pieces);
  Tensor total = args.c->reshape({args.m * args.n});
  ReduceArgs sum{.kind = Reduction::sum,
                 .input = &partial,
                 .shape = partial.shape(),
                 .output = &total,
                 .beta = static_cast<float>(args.beta)};
  sum.reduced[0] = true;
  partial.device().backend().run(kReduce, sum);
}

}  // namespace kaiseki::opencl
