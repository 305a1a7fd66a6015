// SPDX-License-Identifier: MIT
// Tensors and views of them.
#include "matrix/tensor.h"

#include "wasm/bindings/call.h"

namespace kaiseki::wasm {

/// Returns an uninitialized tensor.
KAISEKI_EXPORT Tensor* kaiseki_tensor(int dtype, int rank, const int32_t* dims) {
  return guarded([&] {
    return handle(Tensor(shape_of(dims, rank), static_cast<DType>(dtype), Device::cpu()));
  });
}

KAISEKI_EXPORT void kaiseki_tensor_delete(Tensor* tensor) { release(tensor); }

/// Writes the type, the rank and the dimensions: 2 + Shape::kMaxRank numbers.
KAISEKI_EXPORT void kaiseki_tensor_describe(const Tensor* tensor, int32_t* out) {
  out[0] = static_cast<int32_t>(tensor->dtype());
  out[1] = tensor->rank();
  for (int i = 0; i < tensor->rank(); ++i) out[2 + i] = static_cast<int32_t>(tensor->dim(i));
}

/// Returns the address of the first element. A tensor that is not contiguous is copied to
/// contiguous storage first.
KAISEKI_EXPORT void* kaiseki_tensor_data(Tensor* tensor) {
  return guarded([&] {
    *tensor = tensor->contiguous();
    return tensor->host_pointer(Access::read_write);
  });
}

KAISEKI_EXPORT Tensor* kaiseki_clone(const Tensor* tensor) {
  return guarded([&] { return handle(tensor->clone()); });
}

KAISEKI_EXPORT Tensor* kaiseki_reshape(const Tensor* tensor, int rank, const int32_t* dims) {
  return guarded([&] { return handle(tensor->contiguous().reshape(shape_of(dims, rank))); });
}

KAISEKI_EXPORT Tensor* kaiseki_broadcast(const Tensor* tensor, int rank, const int32_t* dims) {
  return guarded([&] { return handle(tensor->broadcast_to(shape_of(dims, rank))); });
}

KAISEKI_EXPORT Tensor* kaiseki_slice(const Tensor* tensor, int axis, int start, int length) {
  return guarded([&] { return handle(tensor->slice(axis, start, length)); });
}

KAISEKI_EXPORT Tensor* kaiseki_permute(const Tensor* tensor, int count, const int* axes) {
  return guarded([&] { return handle(tensor->permute({axes, static_cast<size_t>(count)})); });
}

}  // namespace kaiseki::wasm
