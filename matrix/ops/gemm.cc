// SPDX-License-Identifier: MIT
#include "matrix/ops/gemm.h"

#include <algorithm>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

constexpr std::string_view kName = "gemm";
/// A core computes this many products in the time of one element of a simple operation.
constexpr double kProductsPerElement = 4;

/// One matrix or a batch, in the form that a backend expects. Rows are `ld` elements apart.
/// Elements are `step` apart, which must be 1.
struct MatrixOperand {
  int64_t batch, rows, columns, ld, stride, step;
  bool transposed;

  bool has_contiguous_rows() const { return step == 1 || columns <= 1; }
  bool has_ascending_rows() const { return ld >= columns || rows <= 1; }
  bool has_ascending_batch() const { return stride >= 0 || batch <= 1; }
};

/// t has rank 2 or 3. Transposed contiguous rows count as contiguous if `may_flip`.
MatrixOperand describe(const Tensor& t, bool transposed, bool may_flip) {
  const int rank = t.rank();
  MatrixOperand m{rank == 3 ? t.dim(0) : 1,       t.dim(-2),       t.dim(-1), t.strides()[-2],
                  rank == 3 ? t.strides()[0] : 0, t.strides()[-1], transposed};
  if (may_flip && m.step != 1 && m.columns > 1 && (m.ld == 1 || m.rows == 1)) {
    std::swap(m.rows, m.columns);
    m.ld = m.step;
    m.step = 1;
    m.transposed = !transposed;
  }
  return m;
}

MatrixOperand view(const Tensor& t, std::string_view what, bool transposed, bool may_flip) {
  check_real(t, what, kName);
  require(t.rank() == 2 || t.rank() == 3, kName, "expected ", what,
          " of shape [rows, columns] or [batch, rows, columns], got ", t.shape());
  MatrixOperand m = describe(t, transposed, may_flip);
  require(m.has_contiguous_rows(), kName, "expected contiguous rows in ", what, ", got strides ",
          t.strides(), " for shape ", t.shape());
  require(m.has_ascending_rows(), kName, "expected rows of ", what,
          " in ascending order that do not overlap, got strides ", t.strides(), " for shape ",
          t.shape());
  require(m.has_ascending_batch(), kName, "expected the batch of ", what,
          " in ascending order, got strides ", t.strides());
  m.ld = std::max(m.ld, std::max<int64_t>(1, m.columns));
  return m;
}

/// t, or a copy of it if gemm() does not read its strides.
Tensor with_readable_rows(const Tensor& t) {
  const MatrixOperand m = describe(t, false, true);
  const bool readable =
      m.has_contiguous_rows() && m.has_ascending_rows() && m.has_ascending_batch();
  return readable ? t : t.contiguous();
}

void set_bias(GemmArgs& args, const Tensor& c, const GemmOptions& options) {
  require(!options.bias_per_row || !options.bias_per_column, kName,
          "bias_per_row and bias_per_column cannot be used together");
  if (options.bias_per_row) {
    check_operand(*options.bias_per_row, "bias_per_row", Shape{args.m}, c, kName);
    args.bias_kind = GemmArgs::Bias::per_row;
    args.bias = options.bias_per_row;
  } else if (options.bias_per_column) {
    check_operand(*options.bias_per_column, "bias_per_column", Shape{args.n}, c, kName);
    args.bias_kind = GemmArgs::Bias::per_column;
    args.bias = options.bias_per_column;
  }
}

/// Divides by rows of C, columns of C, matrices of the batch, or rows of op(B). In the last case,
/// products are added.
pieces::Division divide(const Tensor& a, const Tensor& b, const Tensor& c, int64_t k,
                        const GemmOptions& options) {
  const bool is_bare =
      options.activation == Activation::none && !options.bias_per_row && !options.bias_per_column;
  pieces::Division division{.cuts = {{.length = c.dim(-2)}, {.length = c.dim(-1)}}, .operands = {}};
  if (c.rank() == 3) division.cuts.push_back({.length = c.dim(0)});
  if (is_bare && k > 0) division.cuts.push_back({.length = k, .adds = true});
  const auto axis_of = [](const Tensor& t, int from_end) { return t.rank() - from_end; };
  /// Rows, columns and products: how many axes before the end they are. 0: none.
  const auto add = [&](const Tensor& whole, Access access, int rows, int columns, int products) {
    pieces::PieceOperand operand{.whole = whole, .access = access, .any_strides = true};
    for (const int from_end : {rows, columns})
      operand.axes.push_back(from_end ? axis_of(whole, from_end) : kWhole);
    if (c.rank() == 3)
      operand.axes.push_back(whole.rank() == 3 && whole.dim(0) == c.dim(0) ? 0 : kWhole);
    if (is_bare) operand.axes.push_back(products ? axis_of(whole, products) : kWhole);
    division.operands.push_back(std::move(operand));
  };
  add(a, Access::read, options.transpose_a ? 1 : 2, 0, options.transpose_a ? 2 : 1);
  add(b, Access::read, 0, options.transpose_b ? 2 : 1, options.transpose_b ? 1 : 2);
  add(c, options.beta == 0 ? Access::write : Access::read_write, 2, 1, 0);
  if (options.bias_per_row) add(*options.bias_per_row, Access::read, 1, 0, 0);
  if (options.bias_per_column) add(*options.bias_per_column, Access::read, 0, 1, 0);
  division.streams = true;
  return division;
}

void run_in_pieces(Device device, const pieces::Division& division, const GemmOptions& options) {
  pieces::run_in_pieces(kName, device, division,
                        [&](std::span<Tensor> tensors, const pieces::PieceRange& range) {
                          GemmOptions piece = options;
                          if (options.bias_per_row) piece.bias_per_row = &tensors[3];
                          if (options.bias_per_column) piece.bias_per_column = &tensors[3];
                          if (division.cuts[range.cut].adds && range.first > 0) piece.beta = 1;
                          gemm(tensors[0], tensors[1], tensors[2], piece);
                        });
}

}  // namespace

void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options) {
  const MatrixOperand left = view(a, "A", options.transpose_a, true);
  const MatrixOperand right = view(b, "B", options.transpose_b, true);
  const MatrixOperand out = view(c, "C", false, false);
  check_same_device(c, a, kName);
  check_same_device(c, b, kName);
  for (const Tensor* t : {&b, static_cast<const Tensor*>(&c)})
    require(t->dtype() == a.dtype(), kName, "expected tensors of one type, got ",
            dtype_name(a.dtype()), " and ", dtype_name(t->dtype()));
  require(a.dtype() == DType::f32 || (options.activation == Activation::none &&
                                      !options.bias_per_row && !options.bias_per_column),
          kName, "a product of type f64 has no bias and no activation; apply them separately");
  GemmArgs args;
  args.trans_a = left.transposed, args.trans_b = right.transposed;
  args.m = left.transposed ? left.columns : left.rows;
  args.k = left.transposed ? left.rows : left.columns;
  args.n = right.transposed ? right.rows : right.columns;
  const int64_t inner = right.transposed ? right.columns : right.rows;
  require(inner == args.k, kName, "expected op(B) with ", args.k, " rows for A ", a.shape(),
          ", got ", inner, " in B ", b.shape());
  require(out.rows == args.m && out.columns == args.n, kName, "expected C of ", args.m, " x ",
          args.n, " for A ", a.shape(), " and B ", b.shape(), ", got ", c.shape());
  for (const MatrixOperand* m : {&left, &right})
    require(m->batch == 1 || m->batch == out.batch, kName, "expected a batch of 1 or ", out.batch,
            " for C ", c.shape(), ", got ", m->batch);
  require(!overlap(a, c) && !overlap(b, c), kName,
          "C overlaps A or B in memory; use separate tensors");
  args.batch = out.batch;
  const auto as_elements = [&](double scale) {
    return c.dtype() == DType::f64 ? scale : static_cast<double>(static_cast<float>(scale));
  };
  args.alpha = as_elements(options.alpha), args.beta = as_elements(options.beta);
  args.a = &a, args.b = &b, args.c = &c;
  args.lda = left.ld, args.ldb = right.ld, args.ldc = out.ld;
  args.stride_a = left.batch == 1 ? 0 : left.stride;
  args.stride_b = right.batch == 1 ? 0 : right.stride;
  args.stride_c = out.stride;
  set_bias(args, c, options);
  args.activation = options.activation;
  args.slope = options.slope;
  if (c.size() == 0) return;
  const double products = static_cast<double>(c.size()) * static_cast<double>(args.k);
  const SmallTask small =
      is_small_task(c, {&a, &b, args.bias ? args.bias : &a}, products / kProductsPerElement);
  const auto is_outside = [](const Tensor& t) { return t.buffer().left_device(); };
  const BufferHold holds[] = {BufferHold(a.buffer()), BufferHold(b.buffer()),
                              BufferHold(c.buffer()),
                              BufferHold((args.bias ? *args.bias : a).buffer())};
  if (kHasDevices && small == SmallTask::no &&
      (is_outside(a) || is_outside(b) || is_outside(c) || (args.bias && is_outside(*args.bias))))
    return run_or_fall_back(kGemm.name, c.device().backend().has(kGemm), c, [&](Backend& backend) {
      pieces::Division division;
      if (backend.device() == c.device()) division = divide(a, b, c, args.k, options);
      if (bring_back(division)) return backend.run(kGemm, args);
      division.multiply_adds = products;
      run_in_pieces(c.device(), division, options);
    });
  run_operation(kGemm, c, args, small);
}

namespace {

/// The axes before the matrices.
Shape leading_shape(const Tensor& t) {
  Shape shape;
  for (int i = 0; i + 2 < t.rank(); ++i) shape.push_back(t.dim(i));
  return shape;
}

/// The matrices of t for all products of `batch`, with one axis for the batch. A tensor with one
/// matrix stays one matrix.
Tensor with_one_batch_axis(const Tensor& t, const Shape& batch) {
  const int64_t rows = t.dim(-2), columns = t.dim(-1);
  const int64_t own = leading_shape(t).elements();
  if (own == 1) return t.contiguous().reshape({rows, columns});
  Shape whole = batch;
  whole.push_back(rows);
  whole.push_back(columns);
  return t.broadcast_to(whole).contiguous().reshape({batch.elements(), rows, columns});
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  check_real(a, "A", "matmul");
  check_real(b, "B", "matmul");
  require(std::min(a.rank(), b.rank()) >= 1, "matmul",
          "expected vectors, matrices or batches of them, got ", a.shape(), " and ", b.shape());
  if (a.rank() == 1 || b.rank() == 1) {
    const Tensor left = a.rank() == 1 ? a.contiguous().reshape({1, a.size()}) : a;
    const Tensor right = b.rank() == 1 ? b.contiguous().reshape({b.size(), 1}) : b;
    const Tensor c = matmul(left, right, transpose_a && a.rank() > 1, transpose_b && b.rank() > 1);
    Shape shape = leading_shape(c);
    if (a.rank() > 1) shape.push_back(c.dim(-2));
    if (b.rank() > 1) shape.push_back(c.dim(-1));
    return c.reshape(shape);
  }
  if (std::max(a.rank(), b.rank()) > 3) {
    check_same_device(a, b, "matmul");
    require(a.dim(transpose_a ? -2 : -1) == b.dim(transpose_b ? -1 : -2), "matmul",
            "expected columns of op(A) as rows of op(B), got A ", a.shape(), " and B ", b.shape());
    const Shape batch = broadcast_shapes(leading_shape(a), leading_shape(b), "matmul");
    const Tensor c = matmul(with_one_batch_axis(a, batch), with_one_batch_axis(b, batch),
                            transpose_a, transpose_b);
    Shape shape = batch;
    shape.push_back(c.dim(-2));
    shape.push_back(c.dim(-1));
    return c.reshape(shape);
  }
  Shape shape;
  if (a.rank() == 3 || b.rank() == 3) {
    const int64_t batch_a = a.rank() == 3 ? a.dim(0) : 1, batch_b = b.rank() == 3 ? b.dim(0) : 1;
    shape.push_back(batch_a == 1 ? batch_b : batch_a);
  }
  shape.push_back(a.dim(transpose_a ? -1 : -2));
  shape.push_back(b.dim(transpose_b ? -2 : -1));
  Tensor c(shape, a.dtype(), a.device());
  gemm(with_readable_rows(a), with_readable_rows(b), c,
       {.transpose_a = transpose_a, .transpose_b = transpose_b});
  return c;
}

}  // namespace kaiseki
