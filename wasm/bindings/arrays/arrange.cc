// SPDX-License-Identifier: MIT
// Views, other arrangements, and elements by index (matrix/tensor.h, ops/arrange.h, ops/index.h).
#include "matrix/ops/arrange.h"

#include "matrix/ops/index.h"
#include "wasm/bindings/arrays/operation.h"
#include "wasm/bindings/arrays/slices.h"

namespace kaiseki::wasm {
namespace {

std::vector<Tensor> split_at(const Tensor& x,
                             const std::variant<int64_t, std::vector<int64_t>>& parts, int axis) {
  if (const int64_t* count = std::get_if<int64_t>(&parts)) return split(x, *count, axis);
  return split(x, std::span<const int64_t>(std::get<1>(parts)), axis);
}

Tensor repeat_by(const Tensor& x, const std::variant<int64_t, Tensor*>& repeats, int axis) {
  if (const int64_t* count = std::get_if<int64_t>(&repeats)) return repeat(x, *count, axis);
  return repeat(x, *std::get<Tensor*>(repeats), axis);
}

}  // namespace

void add_arrange_operations(OperationGroup&& table) {
  table.add("slice(x, indices)",
            "A view, as in NumPy: slice(\"0:10:2, :, -1\"). It may have ... and None.",
            [](const Tensor& x, std::string_view indices) {
              return x.index(parse_slices(indices, x.rank()));
            });
  table.add("reshape(x, shape)", "Another shape. One dimension may be -1.",
            [](const Tensor& x, const Shape& shape) { return x.contiguous().reshape(shape); });
  table.add("broadcast_to(x, shape)", "A view that repeats axes of length 1.",
            [](const Tensor& x, const Shape& shape) { return x.broadcast_to(shape); });
  table.add("permute(x, axes)", "A view with the axes in this order.",
            [](const Tensor& x, std::span<const int> axes) { return x.permute(axes); });
  table.add("transpose(x)", "A view with the last two axes exchanged.",
            [](const Tensor& x) { return x.transpose(); });
  table.add("clone(x)", "A copy in storage of its own.", [](const Tensor& x) { return x.clone(); });
  table.add("contiguous(x)", "x if its elements are contiguous, else a copy.",
            [](const Tensor& x) { return x.contiguous(); });
  table.add("is_contiguous(x)", "Whether the elements are in memory row by row, without gaps.",
            [](const Tensor& x) { return x.is_contiguous(); });

  table.add("squeeze(x, axes = [])", "A view without these axes of length 1, or without all.",
            squeeze);
  table.add("expand_dims(x, axis)", "A view with a new axis of length 1.", expand_dims);
  table.add("flip(x, axes = [])", "A view in reverse order along these axes, or along all.", flip);
  table.add("moveaxis(x, from, to)", "A view with one axis at another position.", moveaxis);
  table.add("split(x, parts, axis)",
            "Views of this number of equal parts, or of the parts that begin at these positions.",
            split_at);
  table.add("roll(x, shift, axis)", "Moves elements along the axis, from its end to its start.",
            roll);
  table.add("stack(parts, axis)", "Joins tensors of one shape along a new axis.", stack);
  table.add("tile(x, repeats)", "Repeats x as a whole, repeats[i] times along axis i.", tile);
  table.add("repeat(x, repeats, axis)",
            "Repeats each element along the axis, all equally or by a tensor i32.", repeat_by);

  table.add("take(x, indices, axis)",
            "The elements at these positions (i32). Their shape takes the place of the axis.",
            take);
  table.add("put(x, indices, values, axis)", "Sets the elements of take().", put);
  table.add("add_at(x, indices, values, axis)", "Adds to the elements of take().", add_at);
  table.add("gather(x, indices, axis)", "x[indices[i, j], j] for axis 0: take_along_axis of NumPy.",
            gather);
  table.add("scatter(x, indices, values, axis)", "Sets the elements of gather().", scatter);
  table.add("scatter_add(x, indices, values, axis)", "Adds to the elements of gather().",
            scatter_add);
  table.add("nonzero(x)", "The positions (i32) of the elements that are not 0: [count, rank].",
            nonzero);
  table.add("masked_select(x, mask)", "The elements where the mask (bool) is true.", masked_select);
  table.add("masked_put(x, mask, values)", "Sets the elements of masked_select().", masked_put);
}

}  // namespace kaiseki::wasm
