// SPDX-License-Identifier: MIT
// Tensor: a value with a shape, an element type and strides over shared storage. Row-major. Copying
// a Tensor copies the reference. Views share storage and keep it alive. The members that copy or
// fill elements are defined in matrix/ops/copy.cc.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "matrix/device.h"
#include "matrix/dtype.h"
#include "matrix/memory/buffer.h"
#include "matrix/shape.h"
#include "matrix/slice.h"

namespace kaiseki {

class Tensor {
 public:
  /// An undefined tensor: defined() is false.
  Tensor() = default;
  /// The contents are uninitialized. Throws ShapeError, OutOfMemory, and DeviceError if the device
  /// lacks the type.
  explicit Tensor(const Shape& shape, DType dtype = DType::f32, Device device = default_device());

  /// Tensor{{1, 2}, {3, 4}}: an f32 matrix on the default device. Throws ShapeError if rows differ
  /// in length.
  Tensor(std::initializer_list<std::initializer_list<float>> rows);

  /// Returns u8 [bytes] from memory that is neither in use nor cached. If there is not enough,
  /// returns an undefined tensor.
  static Tensor from_unused_memory(uint64_t bytes, Device device);
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32,
                      Device device = default_device());
  static Tensor full(const Shape& shape, float value, Device device = default_device());
  /// Copies `values`, row-major. Throws ShapeError if their number does not match the shape.
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
  /// The number of elements.
  int64_t size() const { return size_; }
  uint64_t bytes() const { return static_cast<uint64_t>(size_) * dtype_size(dtype_); }
  DType dtype() const { return dtype_; }
  Device device() const { return buffer_ ? buffer_->device() : Device::cpu(); }
  const Shape& strides() const { return strides_; }
  int64_t offset() const { return offset_; }  // in elements from the start of the storage
  bool is_contiguous() const;
  bool shares_storage_with(const Tensor& other) const { return buffer_ == other.buffer_; }

  /// Views. They copy no elements. All throw ShapeError.
  /// Requires a contiguous tensor; one dimension may be -1.
  Tensor reshape(const Shape& shape) const;
  Tensor slice(int axis, int64_t start, int64_t length) const;
  /// x(Slice(0, 10, 2), All, -1): the view x[0:10:2, :, -1] of NumPy. Axes without an index are
  /// kept whole. matrix/slice.h describes the indices. Strides may be negative.
  template <class... Indices>
  requires(ViewIndex<Indices> || ...) Tensor operator()(const Indices&... indices) const {
    const AxisIndex all[] = {AxisIndex(indices)...};
    return index(all);
  }
  /// The same for a number of indices that is known at run time.
  Tensor index(std::span<const AxisIndex> indices) const;
  Tensor permute(std::span<const int> axes) const;
  Tensor transpose() const;                       // swaps the last two dimensions
  Tensor broadcast_to(const Shape& shape) const;  // new dimensions have stride 0
  /// The same bytes as a vector of another element type. The tensor must be contiguous and aligned
  /// to that type. For workspaces.
  Tensor reinterpret(DType dtype) const;

  /// Copies the elements, row-major, to new storage on the same device.
  Tensor clone() const;
  /// Returns this tensor if it is contiguous, else clone().
  Tensor contiguous() const;
  /// Returns this tensor if it is on that device, else a copy there.
  Tensor to(Device device) const;

  /// Host pointer to the first element, for reading. Copies from the device if necessary. The
  /// tensor must be contiguous and of type T.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(host(DTypeOf<T>::value, Access::read));
  }
  /// The same for reading and writing. The device's copy becomes stale.
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(host(DTypeOf<T>::value, Access::read_write));
  }
  /// The same for writing every element. Old contents are not copied from the device.
  template <typename T>
  T* overwrite() {
    return static_cast<T*>(host(DTypeOf<T>::value, Access::write));
  }

  /// The only element of a one-element tensor of type T. Throws ShapeError.
  template <typename T = float>
  T item() const {
    require_one_element();
    return *data<T>();
  }
  /// One element, of any type: a(i, j). Negative indices count from the end. The first call copies
  /// the tensor from its device. Throws ShapeError.
  template <std::integral... Index>
  double operator()(Index... index) const {
    return element({static_cast<int64_t>(index)...});
  }
  /// All elements, row-major.
  template <typename T = float>
  std::vector<T> to_vector() const {
    Tensor source = contiguous();
    const T* first = source.data<T>();
    return std::vector<T>(first, first + source.size());
  }

  /// For backends: the storage, and the host pointer at this tensor's offset for any strides.
  Buffer& buffer() const { return *buffer_; }
  std::weak_ptr<const Buffer> storage() const { return buffer_; }
  void* host_pointer(Access access) const;

 private:
  void require_one_element() const;
  static Tensor from_bytes(const void* values, int64_t count, DType dtype, const Shape& shape,
                           Device device);
  void* host(DType expected, Access access) const;
  double element(std::initializer_list<int64_t> index) const;
  Tensor view(const Shape& shape, const Shape& strides, int64_t offset) const;

  std::shared_ptr<Buffer> buffer_;
  Shape shape_, strides_;
  int64_t offset_ = 0, size_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace kaiseki
