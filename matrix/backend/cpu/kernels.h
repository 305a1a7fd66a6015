// SPDX-License-Identifier: MIT
// The CPU's kernels. Each function adds the kernels of the file of its name. Only cpu_backend.cc
// includes this list.
#pragma once

#include "matrix/backend/kernel_table.h"

namespace kaiseki::cpu {

void add_arg_reduce(KernelTable& kernels);
void add_batch_norm(KernelTable& kernels);
void add_cast(KernelTable& kernels);
void add_cluster(KernelTable& kernels);
void add_copy(KernelTable& kernels);
void add_cross_entropy(KernelTable& kernels);
void add_elementwise(KernelTable& kernels);
void add_fold(KernelTable& kernels);
void add_gemm(KernelTable& kernels);
void add_index(KernelTable& kernels);
void add_lrn(KernelTable& kernels);
void add_normalize(KernelTable& kernels);
void add_pooling(KernelTable& kernels);
void add_random(KernelTable& kernels);
void add_reduce(KernelTable& kernels);
void add_softmax(KernelTable& kernels);
void add_sort(KernelTable& kernels);
void add_triangle(KernelTable& kernels);

inline constexpr void (*kKernels[])(KernelTable&) = {
    add_arg_reduce,  add_batch_norm, add_cast,   add_cluster, add_copy, add_cross_entropy,
    add_elementwise, add_fold,       add_gemm,   add_index,   add_lrn,  add_normalize,
    add_pooling,     add_random,     add_reduce, add_softmax, add_sort, add_triangle};

}  // namespace kaiseki::cpu
