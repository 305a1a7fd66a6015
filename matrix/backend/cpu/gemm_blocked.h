// SPDX-License-Identifier: MIT
// The blocked matrix product, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008). A panel of A stays in the first-level cache, a block of B in the
// second-level cache.
#pragma once

#include <cstdint>

#include "matrix/backend/cpu/gemm_kernel.h"

namespace kaiseki::cpu {

/// One side of a product, k x extent. Element (p, i) is at data[p * stride + i], or at
/// data[i * stride + p] when by_rows.
struct Operand {
  const float* data;
  int64_t stride;
  bool by_rows;
  bool in_place;  // true: the kernels read the operand directly, without packing
  const float* at(int64_t p, int64_t i) const {
    return data + (by_rows ? i * stride + p : p * stride + i);
  }
};

/// C = activation(alpha * A B + beta * C + bias), m x n. If beta is 0, C is not read. A is k x m, B
/// is k x n. The rows and columns of the epilogue are those of c as stored.
struct Product {
  int64_t m, n, k;
  Operand a, b;
  float* c;
  int64_t ldc;
  bool transposed = false;  // c holds C's transpose, n x m
  float alpha = 1, beta = 0;
  Epilogue epilogue{};
};

/// Runs on the thread team, or on the calling thread inside a parallel_for. k is split into the
/// same pieces for any number of threads. The bits of the result therefore do not depend on that
/// number. Needs k >= 1. Memory: at most 7 MiB per thread and 5 MiB shared by the threads. The
/// buffers are kept for the next call.
void gemm_blocked(const Product& product);

}  // namespace kaiseki::cpu
