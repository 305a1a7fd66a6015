// SPDX-License-Identifier: MIT
// CLBlast as a candidate for matrix products. libclblast.so.1 is loaded when the first product is
// measured, and never linked. It is optional.
#pragma once

#include "matrix/backend/opencl/device.h"
#include "matrix/backend/operations/gemm.h"

namespace kaiseki::opencl {

/// Returns whether the library is installed and has the functions used here.
bool has_clblast();

/// Computes the product with CLBlast, then adds bias and activation in a pass over C
/// (cl_kernels/gemm_epilogue.cl). CLBlast allocates temporary memory outside the device's
/// allocator. Needs has_clblast() and k > 0.
void gemm_clblast(OpenclDevice& device, const GemmArgs& args);

}  // namespace kaiseki::opencl
