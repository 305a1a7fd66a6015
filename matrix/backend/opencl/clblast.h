// SPDX-License-Identifier: MIT
// CLBlast as one of the ways to compute a matrix product: libclblast.so.1 is loaded when the first
// product is measured and never linked. A machine without it does not notice.
#pragma once

#include "matrix/backend.h"
#include "matrix/backend/opencl/device.h"

namespace kaiseki::opencl {

/// Whether the library is there, with the functions that we call.
bool has_clblast();

/// The product by CLBlast, then bias and activation in a pass over C (cl_kernels/gemm_epilogue.cl).
/// CLBlast takes temporary memory outside the device's pool. Needs has_clblast(), k > 0.
void gemm_clblast(OpenclDevice& device, const GemmArgs& args);

}  // namespace kaiseki::opencl
