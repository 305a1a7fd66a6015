// SPDX-License-Identifier: MIT
#include "matrix/tensor.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "matrix/memory/allocator.h"

namespace kaiseki {
namespace {

double number_at(const void* first, int64_t position, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return static_cast<const float*>(first)[position];
    case DType::i32:
      return static_cast<const int32_t*>(first)[position];
    case DType::u8:
    case DType::boolean:
      break;
  }
  return static_cast<const uint8_t*>(first)[position];
}

}  // namespace

Tensor::Tensor(std::initializer_list<std::initializer_list<float>> rows) {
  const size_t columns = rows.size() ? rows.begin()->size() : 0;
  std::vector<float> values;
  for (const auto& row : rows) {
    require(row.size() == columns, "tensor", "expected ", columns, " numbers in every row, got ",
            row.size());
    values.insert(values.end(), row);
  }
  *this = from(std::span<const float>(values),
               {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)});
}

Tensor::Tensor(const Shape& shape, DType dtype, Device device)
    : shape_(shape), size_(shape.elements()), dtype_(dtype) {
  strides_ = shape.contiguous_strides();
  buffer_ = std::make_shared<Buffer>(bytes(), device);
}

Tensor Tensor::from_unused_memory(uint64_t bytes, Device device) {
  Tensor t;
  if (bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return t;
  void* block = nullptr;
  try {
    block = device.memory().allocate_unused(bytes);
  } catch (const DeviceError&) {  // larger than the device's largest buffer
  }
  if (!block) return t;
  t.buffer_ = std::make_shared<Buffer>(bytes, device, block);
  t.shape_ = {static_cast<int64_t>(bytes)};
  t.strides_ = t.shape_.contiguous_strides();
  t.size_ = t.shape_.elements();
  t.dtype_ = DType::u8;
  return t;
}

Tensor Tensor::from_bytes(const void* values, int64_t count, DType dtype, const Shape& shape,
                          Device device) {
  require(count == shape.elements(), "tensor", "expected ", shape.elements(), " values for shape ",
          shape, ", got ", count);
  Tensor t(shape, dtype, device);
  if (count) std::memcpy(t.buffer().host(Access::write), values, t.bytes());
  return t;
}

bool Tensor::is_contiguous() const {
  if (size_ <= 1) return true;
  int64_t stride = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape_[i] != 1 && strides_[i] != stride) return false;
    stride *= shape_[i];
  }
  return true;
}

Tensor Tensor::view(const Shape& shape, const Shape& strides, int64_t offset) const {
  Tensor result = *this;
  result.shape_ = shape;
  result.strides_ = strides;
  result.offset_ = offset;
  result.size_ = shape.elements();
  return result;
}

Tensor Tensor::reshape(const Shape& shape) const {
  require(is_contiguous(), "reshape", "expected a contiguous tensor, got strides ", strides_,
          " for shape ", shape_, "; use contiguous() first");
  Shape target = shape;
  std::optional<int> unknown;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != -1) continue;
    require(!unknown, "reshape", "expected at most one -1, got ", shape);
    unknown = i;
    target[i] = 1;
  }
  if (unknown) {
    const int64_t known = target.elements();
    require(known > 0 && size_ % known == 0, "reshape", "expected a shape of ", size_,
            " elements, got ", shape);
    target[*unknown] = size_ / known;
  }
  require(target.elements() == size_, "reshape", "expected a shape of ", size_, " elements, got ",
          shape);
  return view(target, target.contiguous_strides(), offset_);
}

Tensor Tensor::slice(int axis, int64_t start, int64_t length) const {
  int i = shape_.index(axis);
  require(start >= 0 && length >= 0 && start <= shape_[i] - length, "slice",
          "expected a range in 0..", shape_[i], " of axis ", i, ", got start ", start,
          " and length ", length);
  Shape shape = shape_;
  shape[i] = length;
  return view(shape, strides_, offset_ + start * strides_[i]);
}

Tensor Tensor::permute(std::span<const int> axes) const {
  require(static_cast<int>(axes.size()) == rank(), "permute", "expected ", rank(), " axes, got ",
          axes.size());
  Shape shape, strides;
  unsigned seen = 0;
  for (int axis : axes) {
    int i = shape_.index(axis);
    require(!(seen >> i & 1), "permute", "expected each axis once, got axis ", i, " twice");
    seen |= 1u << i;
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
  }
  return view(shape, strides, offset_);
}

Tensor Tensor::transpose() const {
  require(rank() >= 2, "transpose", "expected rank 2 or more, got ", rank());
  Shape shape = shape_, strides = strides_;
  std::swap(shape[-1], shape[-2]);
  std::swap(strides[-1], strides[-2]);
  return view(shape, strides, offset_);
}

Tensor Tensor::broadcast_to(const Shape& shape) const {
  require(broadcast_shapes(shape_, shape, "broadcast_to") == shape, "broadcast_to",
          "expected a shape that ", shape_, " broadcasts to, got ", shape);
  Shape strides = shape;
  int lead = shape.rank() - rank();
  for (int i = 0; i < shape.rank(); ++i)
    strides[i] = i < lead || shape_[i - lead] != shape[i] ? 0 : strides_[i - lead];
  return view(shape, strides, offset_);
}

Tensor Tensor::reinterpret(DType dtype) const {
  auto from = static_cast<int64_t>(dtype_size(dtype_)),
       to = static_cast<int64_t>(dtype_size(dtype));
  require(is_contiguous() && offset_ * from % to == 0 && size_ * from % to == 0, "reinterpret",
          "expected a contiguous tensor of whole elements of ", dtype_name(dtype), ", got ", shape_,
          " of ", dtype_name(dtype_), " at offset ", offset_);
  Shape shape{size_ * from / to};
  Tensor result = view(shape, shape.contiguous_strides(), offset_ * from / to);
  result.dtype_ = dtype;
  return result;
}

void* Tensor::host_pointer(Access access) const {
  return static_cast<char*>(buffer_->host(access)) + offset_ * dtype_size(dtype_);
}

void* Tensor::host(DType expected, Access access) const {
  require(defined(), "tensor", "expected a tensor, got an empty one");
  require(dtype_ == expected, "tensor", "expected elements of type ", dtype_name(expected),
          ", got ", dtype_name(dtype_));
  require(is_contiguous(), "tensor", "expected a contiguous tensor, got strides ", strides_,
          " for shape ", shape_);
  bool whole = bytes() == buffer_->bytes();
  return host_pointer(access == Access::write && !whole ? Access::read_write : access);
}

float Tensor::item() const {
  require(size_ == 1, "item", "expected one element, got shape ", shape_);
  return *data<float>();
}

double Tensor::element(std::initializer_list<int64_t> index) const {
  require(defined(), "tensor", "expected a tensor, got an empty one");
  require(static_cast<int>(index.size()) == rank(), "element", "expected ", rank(),
          " indices for shape ", shape_, ", got ", index.size());
  int64_t position = 0;
  int axis = 0;
  for (int64_t i : index) {
    const int64_t n = shape_[axis];
    require(i >= -n && i < n, "element", "expected an index from ", -n, " to ", n - 1, " of axis ",
            axis, ", got ", i);
    position += (i < 0 ? i + n : i) * strides_[axis++];
  }
  return number_at(host_pointer(Access::read), position, dtype_);
}

}  // namespace kaiseki
