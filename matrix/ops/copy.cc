// SPDX-License-Identifier: MIT
#include "matrix/ops/copy.h"

#include <cmath>

#include "base/error.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/ops/check.h"
#include "matrix/out_of_core/divide.h"

namespace kaiseki {
namespace {

bool represents(DType dtype, double value) {
  const bool whole = std::trunc(value) == value;
  switch (dtype) {
    case DType::f32:
    case DType::f64:
      return true;
    case DType::i32:
      return whole && value >= -0x1p31 && value < 0x1p31;
    case DType::u8:
      return whole && value >= 0 && value <= 255;
    case DType::boolean:
      return value == 0 || value == 1;
  }
  return false;
}

}  // namespace

void copy_into(Tensor& to, const Tensor& from) {
  require(from.defined() && to.defined(), "copy", "expected tensors, got an empty one");
  require(from.shape() == to.shape(), "copy", "expected tensors of one shape, got ", from.shape(),
          " and ", to.shape());
  require(from.dtype() == to.dtype(), "copy", "expected tensors of one type, got ",
          dtype_name(from.dtype()), " and ", dtype_name(to.dtype()));
  if (from.size() == 0) return;
  for (int i = 0; i < to.rank(); ++i)
    require(to.dim(i) < 2 || to.strides()[i] != 0, "copy",
            "expected a target whose elements have places of their own, got strides ", to.strides(),
            " for shape ", to.shape());
  if (overlap(from, to)) return copy_into(to, from.clone());
  if (from.device() == to.device())
    return run_divisible(kCopy, from, {&from, &to},
                         is_small_task(to, {&from}, static_cast<double>(to.size())));
  bool fetches_much = !from.device().is_cpu() && !from.buffer().valid_on_host() &&
                      from.bytes() < from.buffer().bytes();
  const Tensor source = fetches_much ? from.clone() : from;
  cpu_backend().run(kCopy, {&source, &to});
}

void fill(Tensor& t, double value) {
  require(t.defined(), "fill", "expected a tensor, got an empty one");
  require(represents(t.dtype(), value), "fill", "expected a value of type ", dtype_name(t.dtype()),
          ", got ", value);
  require(t.is_contiguous(), "fill", "expected a contiguous tensor, got strides ", t.strides());
  if (t.size())
    run_divisible(kFill, t, {&t, value}, is_small_task(t, {}, static_cast<double>(t.size())));
}

Tensor Tensor::zeros(const Shape& shape, DType dtype, Device device) {
  Tensor t(shape, dtype, device);
  fill(t, 0);
  return t;
}

Tensor Tensor::full(const Shape& shape, float value, Device device) {
  Tensor t(shape, DType::f32, device);
  fill(t, value);
  return t;
}

Tensor Tensor::clone() const {
  Tensor result(shape_, dtype_, device());
  copy_into(result, *this);
  return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::to(Device target) const {
  if (device() == target) return *this;
  Tensor result(shape_, dtype_, target);
  copy_into(result, *this);
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
    require(part.dtype() == parts[0].dtype(), "concatenate", "expected tensors of one type, got ",
            dtype_name(parts[0].dtype()), " and ", dtype_name(part.dtype()));
    bool fits = part.rank() == shape.rank();
    for (int i = 0; fits && i < shape.rank(); ++i) fits = i == along || part.dim(i) == shape[i];
    require(fits, "concatenate", "expected shapes that differ only along axis ", along, ", got ",
            parts[0].shape(), " and ", part.shape());
    check_same_device(parts[0], part, "concatenate");
    shape[along] += part.dim(along);
  }
  Tensor result(shape, parts[0].dtype(), parts[0].device());
  int64_t start = 0;
  for (const Tensor& part : parts) {
    Tensor target = result.slice(along, start, part.dim(along));
    copy_into(target, part);
    start += part.dim(along);
  }
  return result;
}

}  // namespace kaiseki
