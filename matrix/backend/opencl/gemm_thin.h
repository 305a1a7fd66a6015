// SPDX-License-Identifier: MIT
// Products of a matrix with many rows and a few vectors, on CPUs. They read the large matrix once
// and do not pack it (cl_kernels/cluster.cl). The order of additions differs from other products.
#pragma once

#include "matrix/backend/opencl/device.h"
#include "matrix/backend/operations/gemm.h"

namespace kaiseki::opencl {

/// C = alpha * A B^T + beta * C + bias per column, for few columns.
bool has_few_columns(OpenclDevice& device, const GemmArgs& args);
void gemm_few_columns(OpenclDevice& device, const GemmArgs& args);

/// C = A^T B + beta * C, for many rows of A and B, and few rows of C.
bool has_few_rows(OpenclDevice& device, const GemmArgs& args);
void gemm_few_rows(OpenclDevice& device, const GemmArgs& args);

}  // namespace kaiseki::opencl
