// SPDX-License-Identifier: MIT
// Tensor: a value with a shape, an element type and strides over shared storage. Row-major.
// Copying a Tensor copies the reference; views share storage and keep it alive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "matrix/device.h"
#include "matrix/dtype.h"
#include "matrix/memory/buffer.h"
#include "matrix/shape.h"

namespace kaiseki {

class Tensor {
 public:
  /// No tensor: defined() is false.
  Tensor() = default;
  /// Uninitialised contents. Throws ShapeError, OutOfMemory.
  explicit Tensor(const Shape& shape, DType dtype = DType::f32, Device device = default_device());

  /// u8 [bytes] of memory that is neither in use nor cached; no tensor when there is not that much.
  static Tensor of_unused_memory(uint64_t bytes, Device device);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32,
                      Device device = default_device());
  static Tensor full(const Shape& shape, float value, Device device = default_device());
  /// Copies `values`, row-major. Throws ShapeError when their number is not the shape's.
  template <typename T>
  static Tensor from(std::span<const T> values, const Shape& shape,
                     Device device = default_device()) {
    return from_bytes(values.data(), static_cast<int64_t>(values.size()), DTypeOf<T>::value, shape,
                      device);
  }
  static Tensor from(std::initializer_list<float> values, const Shape& shape,
                     Device device = default_device()) {
    return from(std::span<const float>(values.begin(), values.size()), shape, device);
  }

  bool defined() const { return buffer_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_[axis]; }
  /// Number of elements.
  int64_t size() const { return size_; }
  uint64_t bytes() const { return static_cast<uint64_t>(size_) * dtype_size(dtype_); }
  DType dtype() const { return dtype_; }
  Device device() const { return buffer_ ? buffer_->device() : Device::cpu(); }
  const Shape& strides() const { return strides_; }
  int64_t offset() const { return offset_; }  // elements from the start of the storage
  bool is_contiguous() const;
  bool shares_storage_with(const Tensor& other) const { return buffer_ == other.buffer_; }

  /// Views; no elements are copied. All throw ShapeError.
  Tensor reshape(const Shape& shape) const;  // contiguous only; one dimension may be -1
  Tensor slice(int axis, int64_t start, int64_t length) const;
  Tensor permute(std::span<const int> axes) const;
  Tensor transpose() const;                       // the last two dimensions swapped
  Tensor broadcast_to(const Shape& shape) const;  // new dimensions have stride 0
  /// The same bytes as elements of another type, in one dimension; contiguous, and aligned to that
  /// type, only. For workspaces.
  Tensor reinterpret(DType dtype) const;

  /// Row-major elements in new storage on the same device.
  Tensor clone() const;
  /// This tensor if it is contiguous, else clone().
  Tensor contiguous() const;
  /// This tensor if it is on that device, else a copy there.
  Tensor to(Device device) const;

  /// Host pointer to the first element, for reading: syncs from the device where needed. The tensor
  /// must be contiguous and of type T.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(host(DTypeOf<T>::value, Access::read));
  }
  /// The same for reading and writing; the device's copy becomes stale.
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(host(DTypeOf<T>::value, Access::read_write));
  }
  /// The same for writing every element: old contents are not fetched from the device.
  template <typename T>
  T* overwrite() {
    return static_cast<T*>(host(DTypeOf<T>::value, Access::write));
  }

  /// The only element of a tensor with one. Throws ShapeError.
  float item() const;
  /// All elements, row-major.
  template <typename T = float>
  std::vector<T> to_vector() const {
    Tensor source = contiguous();
    const T* first = source.data<T>();
    return std::vector<T>(first, first + source.size());
  }

  /// For backends: storage, and the host pointer at this tensor's offset whatever its strides.
  Buffer& buffer() const { return *buffer_; }
  std::weak_ptr<const Buffer> storage() const { return buffer_; }
  void* host_pointer(Access access) const;

 private:
  static Tensor from_bytes(const void* values, int64_t count, DType dtype, const Shape& shape,
                           Device device);
  void* host(DType expected, Access access) const;
  Tensor view(const Shape& shape, const Shape& strides, int64_t offset) const;

  std::shared_ptr<Buffer> buffer_;
  Shape shape_, strides_;
  int64_t offset_ = 0, size_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace kaiseki
