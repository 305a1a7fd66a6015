// SPDX-License-Identifier: MIT
#include "matrix/ops/index.h"

#include <limits>
#include <vector>

#include "matrix/axis_split.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/index.h"
#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

/// Checks the indices in the host copy: always before the CPU computes, otherwise only if that copy
/// is valid.
void check_indices(const Tensor& indices, int64_t n, const Backend& backend,
                   std::string_view name) {
  if (!backend.device().is_cpu() && !indices.buffer().valid_on_host()) return;
  const int32_t* index = indices.data<int32_t>();
  for (int64_t i = 0; i < indices.size(); ++i)
    require(index[i] >= -n && index[i] < n, name, "expected indices from ", -n, " to ", n - 1,
            ", got ", index[i], " at position ", i);
}

/// A call of one of the six functions. The indices are contiguous.
struct IndexCall {
  std::string_view name;
  IndexArgs args{};
  Tensor indices;
  Shape selected;  // the shape of the selected elements
};

IndexCall prepare(const Tensor& x, const Tensor& indices, int axis, bool shared,
                  std::string_view name) {
  check_defined(x, "x", name);
  check_tensor(indices, "indices", name, DType::i32);
  check_same_device(x, indices, name);
  const int along = x.shape().index(axis);
  IndexCall call;
  call.name = name;
  IndexArgs& args = call.args;
  const AxisSplit split(x.shape(), along);
  args.outer = split.outer, args.n = split.n, args.inner = split.inner;
  args.shared = shared;
  args.count = shared ? indices.size() : indices.rank() > along ? indices.dim(along) : 0;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != along)
      call.selected.push_back(x.dim(i));
    else if (shared)
      for (int64_t dim : indices.shape()) call.selected.push_back(dim);
    else
      call.selected.push_back(args.count);
  }
  require(shared || indices.shape() == call.selected, name, "expected indices with the shape of x ",
          x.shape(), " except along axis ", along, ", got ", indices.shape());
  call.indices = indices.contiguous();
  return call;
}

void run(const Operation<IndexArgs>& operation, IndexCall& call, const Tensor& from, Tensor& to) {
  call.args.indices = &call.indices;
  call.args.from = &from;
  call.args.to = &to;
  run_operation(operation, to, call.args, [&](Backend& backend) {
    check_indices(call.indices, call.args.n, backend, call.name);
  });
}

Tensor read(const Tensor& x, IndexCall call) {
  Tensor result(call.selected, x.dtype(), x.device());
  if (result.size()) run(kTake, call, x.contiguous(), result);
  return result;
}

void write(const Operation<IndexArgs>& operation, Tensor& x, IndexCall call, const Tensor& values) {
  const std::string_view name = call.name;
  check_defined(values, "values", name);
  require(values.dtype() == x.dtype(), name, "expected values of type ", dtype_name(x.dtype()),
          ", got ", dtype_name(values.dtype()));
  const bool adds = &operation == &kAddAt;
  require(!adds || x.dtype() == DType::f32 || x.dtype() == DType::i32, name,
          "expected x of type f32 or i32, got ", dtype_name(x.dtype()));
  check_same_device(x, values, name);
  const Tensor spread = values.broadcast_to(call.selected);
  if (spread.size() == 0) return;
  Tensor from = overlap(values, x) ? spread.clone() : spread.contiguous();
  if (overlap(call.indices, x)) call.indices = call.indices.clone();
  Tensor target = x.contiguous();
  run(operation, call, from, target);
  if (!x.is_contiguous()) copy_into(x, target);
}

/// The positions of true elements in the flat mask, on the mask's device.
Tensor true_positions(const Tensor& x, const Tensor& mask, std::string_view name) {
  check_defined(x, "x", name);
  check_tensor(mask, "the mask", name, DType::boolean);
  check_same_device(x, mask, name);
  bool fits = mask.rank() <= x.rank();
  for (int i = 0; fits && i < mask.rank(); ++i) fits = mask.dim(i) == x.dim(i);
  require(fits, name, "expected a mask with the first dimensions of x ", x.shape(), ", got ",
          mask.shape());
  require(mask.size() <= std::numeric_limits<int32_t>::max(), name,
          "expected a mask of at most 2^31 - 1 elements, got ", mask.size());
  const std::vector<bool> flags = mask.to_vector<bool>();
  std::vector<int32_t> positions;
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) positions.push_back(static_cast<int32_t>(i));
  return Tensor::from(std::span<const int32_t>(positions), {static_cast<int64_t>(positions.size())},
                      x.device());
}

/// x with one dimension for all dimensions of the mask.
Shape masked_shape(const Tensor& x, const Tensor& mask) {
  Shape shape{mask.size()};
  for (int i = mask.rank(); i < x.rank(); ++i) shape.push_back(x.dim(i));
  return shape;
}

template <typename T>
std::vector<int32_t> nonzero_positions(const Tensor& x) {
  const T* value = x.data<T>();
  std::vector<int32_t> result;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (value[i] == T{0}) continue;
    const size_t first = result.size();
    result.resize(first + static_cast<size_t>(x.rank()));
    int64_t rest = i;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      result[first + static_cast<size_t>(axis)] = static_cast<int32_t>(rest % x.dim(axis));
      rest /= x.dim(axis);
    }
  }
  return result;
}

std::vector<int32_t> nonzero_of_type(const Tensor& x) {
  return with_type(x.dtype(), [&](auto zero) { return nonzero_positions<decltype(zero)>(x); });
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  return read(x, prepare(x, indices, axis, true, "take"));
}
Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  return read(x, prepare(x, indices, axis, false, "gather"));
}

void put(Tensor& x, const Tensor& indices, const Tensor& values, int axis) {
  write(kPut, x, prepare(x, indices, axis, true, "put"), values);
}
void scatter(Tensor& x, const Tensor& indices, const Tensor& values, int axis) {
  write(kPut, x, prepare(x, indices, axis, false, "scatter"), values);
}

void add_at(Tensor& x, const Tensor& indices, const Tensor& values, int axis) {
  write(kAddAt, x, prepare(x, indices, axis, true, "add_at"), values);
}
void scatter_add(Tensor& x, const Tensor& indices, const Tensor& values, int axis) {
  write(kAddAt, x, prepare(x, indices, axis, false, "scatter_add"), values);
}

/// Here, because its errors have its own name.
Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype) {
  constexpr std::string_view kName = "one_hot";
  check_tensor(indices, "indices", kName, DType::i32);
  require(classes >= 0, kName, "expected 0 classes or more, got ", classes);
  Shape shape = indices.shape(), column = indices.shape();
  shape.push_back(classes);
  column.push_back(1);
  Tensor result = Tensor::zeros(shape, dtype, indices.device());
  const Tensor places = indices.contiguous().reshape(column);
  write(kPut, result, prepare(result, places, -1, false, kName),
        ones({1}, dtype, indices.device()));
  return result;
}

Tensor nonzero(const Tensor& x) {
  require(x.defined() && x.rank() > 0, "nonzero", "expected a tensor of rank 1 or more");
  const std::vector<int32_t> positions = nonzero_of_type(x.contiguous());
  const int64_t count = static_cast<int64_t>(positions.size()) / x.rank();
  return Tensor::from(std::span<const int32_t>(positions), {count, x.rank()}, x.device());
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const Tensor positions = true_positions(x, mask, "masked_select");
  return take(x.contiguous().reshape(masked_shape(x, mask)), positions, 0);
}

void masked_put(Tensor& x, const Tensor& mask, const Tensor& values) {
  const Tensor positions = true_positions(x, mask, "masked_put");
  Tensor whole = x.contiguous(), flat = whole.reshape(masked_shape(x, mask));
  put(flat, positions, values, 0);
  if (!x.is_contiguous()) copy_into(x, whole);
}

}  // namespace kaiseki
