// SPDX-License-Identifier: MIT
// The kernels of an OpenCL device. Each function adds the operations of the file of its name. Only
// backend.cc includes this list.
#pragma once

#include "matrix/backend/opencl/opencl_kernels.h"

namespace kaiseki::opencl {

void add_cast(OpenclKernels& kernels);
void add_cluster(OpenclKernels& kernels);
void add_copy(OpenclKernels& kernels);
void add_elementwise(OpenclKernels& kernels);
void add_fold(OpenclKernels& kernels);
void add_gemm(OpenclKernels& kernels);
void add_index(OpenclKernels& kernels);
void add_norm(OpenclKernels& kernels);
void add_normalize(OpenclKernels& kernels);
void add_pooling(OpenclKernels& kernels);
void add_random(OpenclKernels& kernels);
void add_reduce(OpenclKernels& kernels);
void add_softmax(OpenclKernels& kernels);
void add_sort(OpenclKernels& kernels);
void add_triangle(OpenclKernels& kernels);

inline constexpr void (*kKernels[])(OpenclKernels&) = {
    add_cast,   add_cluster, add_copy,    add_elementwise, add_fold,
    add_gemm,   add_index,   add_norm,    add_normalize,   add_pooling,
    add_random, add_reduce,  add_softmax, add_sort,        add_triangle};

}  // namespace kaiseki::opencl
