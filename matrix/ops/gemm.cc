// SPDX-License-Identifier: MIT
#include "matrix/ops/gemm.h"

#include <algorithm>

#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "gemm";

/// A matrix or a batch of them, as stored.
struct Operand {
  int64_t batch, rows, columns, leading, stride;
};

Operand operand(const Tensor& t, std::string_view what) {
  check_tensor(t, what, kName);
  require(t.rank() == 2 || t.rank() == 3, kName, "expected ", what, " of rank 2 or 3, got ",
          t.shape());
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  require(columns <= 1 || t.strides()[-1] == 1, kName, "expected contiguous columns of ", what,
          ", got strides ", t.strides());
  const int64_t leading = rows > 1 ? t.strides()[-2] : std::max<int64_t>(1, columns);
  require(rows <= 1 || leading >= columns, kName, "expected rows of ", what,
          " that do not overlap, got strides ", t.strides());
  const int64_t batch = t.rank() == 3 ? t.dim(0) : 1;
  return {batch, rows, columns, leading, batch > 1 ? t.strides()[0] : 0};
}

void check_bias(const Tensor* bias, int64_t size, const Tensor& c) {
  if (bias) check_operand(*bias, "a bias", Shape{size}, c, kName);
}

}  // namespace

void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options) {
  const Operand left = operand(a, "A"), right = operand(b, "B"), out = operand(c, "C");
  check_same_device(a, b, kName);
  check_same_device(a, c, kName);
  GemmArgs args;
  args.trans_a = options.transpose_a;
  args.trans_b = options.transpose_b;
  args.m = args.trans_a ? left.columns : left.rows;
  args.k = args.trans_a ? left.rows : left.columns;
  args.n = args.trans_b ? right.rows : right.columns;
  const int64_t inner = args.trans_b ? right.columns : right.rows;
  args.batch = out.batch;
  require(args.k == inner, kName, "expected op(B) with ", args.k, " rows, got A ", a.shape(),
          args.trans_a ? " transposed" : "", " and B ", b.shape(),
          args.trans_b ? " transposed" : "");
  require(out.rows == args.m && out.columns == args.n, kName, "expected C of ", args.m, " x ",
          args.n, ", got ", c.shape());
  for (int64_t batch : {left.batch, right.batch})
    require(batch == out.batch || batch == 1, kName, "expected a batch of ", out.batch,
            " or 1, got ", batch);
  require(!overlap(a, c) && !overlap(b, c), kName,
          "expected C apart from A and B, got shared storage");
  require(!options.bias_per_row || !options.bias_per_column, kName, "expected one bias, got two");
  check_bias(options.bias_per_row, args.m, c);
  check_bias(options.bias_per_column, args.n, c);
  if (out.batch == 0 || args.m == 0 || args.n == 0) return;

  args.alpha = options.alpha;
  args.beta = options.beta;
  args.a = &a;
  args.b = &b;
  args.c = &c;
  args.lda = left.leading;
  args.ldb = right.leading;
  args.ldc = out.leading;
  args.stride_a = left.batch == 1 ? 0 : left.stride;
  args.stride_b = right.batch == 1 ? 0 : right.stride;
  args.stride_c = out.stride;
  if (options.bias_per_row) args.bias_kind = GemmArgs::Bias::per_row;
  if (options.bias_per_column) args.bias_kind = GemmArgs::Bias::per_column;
  args.bias = options.bias_per_row ? options.bias_per_row : options.bias_per_column;
  args.activation = options.activation;
  args.slope = options.slope;
  backend_for(Op::gemm, c).gemm(args);
}

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  require(a.defined() && b.defined() && a.rank() >= 2 && b.rank() >= 2, "matmul",
          "expected two matrices, got ", a.shape(), " and ", b.shape());
  const int64_t m = a.dim(transpose_a ? -1 : -2), n = b.dim(transpose_b ? -2 : -1);
  Shape shape{m, n};
  if (a.rank() == 3 || b.rank() == 3) {
    const int64_t batch_a = a.rank() == 3 ? a.dim(0) : 1, batch_b = b.rank() == 3 ? b.dim(0) : 1;
    shape = Shape{batch_a == 1 ? batch_b : batch_a, m, n};
  }
  Tensor c(shape, DType::f32, a.device());
  gemm(a, b, c, {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return c;
}

}  // namespace kaiseki
