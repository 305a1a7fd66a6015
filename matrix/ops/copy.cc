// SPDX-License-Identifier: MIT
#include "matrix/ops/copy.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/operations/gather.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

/// Checks row indices in the host copy: always before the CPU computes, otherwise only if that copy
/// is valid. A device's kernels skip rows out of range.
void check_rows(const Tensor& rows, int64_t n, const Backend& backend, std::string_view name) {
  if (!backend.device().is_cpu() && !rows.buffer().valid_on_host()) return;
  const int32_t* index = rows.data<int32_t>();
  for (int64_t i = 0; i < rows.size(); ++i)
    require(index[i] >= 0 && index[i] < n, name, "expected rows from 0 to ", n - 1, ", got ",
            index[i], " at position ", i);
}

GatherArgs gather_args(const Tensor& table, const Tensor& rows, std::string_view name) {
  require(table.defined() && rows.defined(), name, "expected tensors, got an empty one");
  require(table.rank() >= 1, name, "expected a table of rank 1 or more, got ", table.shape());
  require(rows.rank() == 1, name, "expected rows of rank 1, got ", rows.shape());
  check_operand(rows, "rows", rows.shape(), table, name, DType::i32);
  GatherArgs args{};
  args.n = table.dim(0);
  args.count = rows.dim(0);
  args.width = 1;
  for (int i = 1; i < table.rank(); ++i) args.width *= table.dim(i);
  args.rows = &rows;
  return args;
}

}  // namespace

void copy(const Tensor& from, Tensor& to) {
  require(from.defined() && to.defined(), "copy", "expected tensors, got an empty one");
  require(from.shape() == to.shape(), "copy", "expected tensors of one shape, got ", from.shape(),
          " and ", to.shape());
  require(from.dtype() == to.dtype(), "copy", "expected tensors of one type, got ",
          dtype_name(from.dtype()), " and ", dtype_name(to.dtype()));
  if (from.size() == 0) return;
  if (overlap(from, to)) return copy(from.clone(), to);
  if (from.device() == to.device()) return run_operation(kCopy, from, {&from, &to});
  bool fetches_much = !from.device().is_cpu() && !from.buffer().valid_on_host() &&
                      from.bytes() < from.buffer().bytes();
  const Tensor source = fetches_much ? from.clone() : from;
  cpu_backend().run(kCopy, {&source, &to});
}

void fill(Tensor& t, double value) {
  require(t.defined(), "fill", "expected a tensor, got an empty one");
  require(t.dtype() == DType::f32 || t.dtype() == DType::i32 || t.dtype() == DType::f64, "fill",
          "expected a tensor of type f32, f64 or i32, got ", dtype_name(t.dtype()));
  require(t.is_contiguous(), "fill", "expected a contiguous tensor, got strides ", t.strides());
  if (t.size()) run_operation(kFill, t, {&t, value});
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  Tensor t(shape, dtype, device);
  if (dtype == DType::f32 || dtype == DType::i32 || dtype == DType::f64)
    fill(t, 0);
  else
    std::memset(t.buffer().host(Access::write), 0, t.bytes());
  return t;
}

Tensor Tensor::full(const Shape& shape, float value, Device device) {
  Tensor t(shape, DType::f32, device);
  fill(t, value);
  return t;
}

Tensor Tensor::clone() const {
  Tensor result(shape_, dtype_, device());
  copy(*this, result);
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::to(Device target) const {
  if (device() == target) return *this;
  Tensor result(shape_, dtype_, target);
  copy(*this, result);
  return result;
}

Tensor concatenate(std::span<const Tensor> parts, int axis) {
  require(!parts.empty(), "concatenate", "expected one tensor or more, got none");
  for (const Tensor& part : parts)
    require(part.defined(), "concatenate", "expected tensors, got an empty one");
  Shape shape = parts[0].shape();
  int along = shape.index(axis);
  shape[along] = 0;
  for (const Tensor& part : parts) {
    bool fits = part.rank() == shape.rank() && part.dtype() == parts[0].dtype();
    for (int i = 0; fits && i < shape.rank(); ++i) fits = i == along || part.dim(i) == shape[i];
    require(fits, "concatenate", "expected tensors of one type that differ only along axis ", along,
            ", got ", parts[0].shape(), " and ", part.shape());
    check_same_device(parts[0], part, "concatenate");
    shape[along] += part.dim(along);
  }
  Tensor result(shape, parts[0].dtype(), parts[0].device());
  int64_t start = 0;
  for (const Tensor& part : parts) {
    Tensor target = result.slice(along, start, part.dim(along));
    copy(part, target);
    start += part.dim(along);
  }
  return result;
}

Tensor gather(const Tensor& table, const Tensor& rows) {
  GatherArgs args = gather_args(table, rows, "gather");
  Tensor source = table.contiguous();
  Shape shape = table.shape();
  shape[0] = args.count;
  Tensor output(shape, table.dtype(), table.device());
  if (output.size() == 0) return output;
  args.table = &source;
  args.output = &output;
  run_operation(kGather, table, args, [&](Backend& b) { check_rows(rows, args.n, b, "gather"); });
  return output;
}

void scatter_add(Tensor& table, const Tensor& rows, const Tensor& source) {
  GatherArgs args = gather_args(table, rows, "scatter_add");
  check_operand(table, "the table", table.shape(), table, "scatter_add");
  Shape shape = table.shape();
  shape[0] = args.count;
  check_operand(source, "the source", shape, table, "scatter_add");
  require(!overlap(table, source), "scatter_add",
          "the source overlaps the table in memory; use separate tensors");
  if (source.size() == 0) return;
  args.source = &source;
  args.table_out = &table;
  run_operation(kScatterAdd, table, args,
                [&](Backend& b) { check_rows(rows, args.n, b, "scatter_add"); });
}

}  // namespace kaiseki
