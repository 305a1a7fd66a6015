// SPDX-License-Identifier: MIT
// The memory of solvers that multiply transformed factors. `Products` has left_floats(),
// right_floats() and product_floats(). The left factor is the filters, if they are no result.
#pragma once

#include "matrix/conv/solver.h"
#include "matrix/tensor.h"

namespace kaiseki::opencl {

/// The bytes of both factors and of the product.
template <class Products>
uint64_t transformed_bytes(const Products& plan) {
  return static_cast<uint64_t>(plan.left_floats() + plan.right_floats() + plan.product_floats()) *
         sizeof(float);
}

/// The bytes of the transformed filters of all groups.
template <class Products>
uint64_t left_bytes(const Products& plan, int64_t groups) {
  return static_cast<uint64_t>(groups * plan.left_floats()) * sizeof(float);
}

/// The part of one group in the transformed filters.
template <class Products>
Tensor prepared_part(const Products& plan, const Tensor& prepared, int64_t group) {
  return prepared.reinterpret(DType::f32).slice(0, group * plan.left_floats(), plan.left_floats());
}

}  // namespace kaiseki::opencl
