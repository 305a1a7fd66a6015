// SPDX-License-Identifier: MIT
// The blocked matrix product, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication" (2008): a panel of A stays in the first-level cache, a block of B in the second.
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
  bool in_place;  // not packed where the kernels can read it as it lies
  const float* at(int64_t p, int64_t i) const {
    return data + (by_rows ? i * stride + p : p * stride + i);
  }
};

/// C = activation(alpha * A B + beta * C + bias), m x n; with beta 0 C is not read. A is k x m, B
/// is k x n. The epilogue's rows and columns are those of c as it lies.
struct Product {
  int64_t m, n, k;
  Operand a, b;
  float* c;
  int64_t ldc;
  bool transposed = false;  // c holds C's transpose, n x m
  float alpha = 1, beta = 0;
  Epilogue epilogue{};
};

/// Runs on the thread pool (on the calling thread inside a parallel_for). k is cut in the same
/// pieces whatever the number of threads, so the bits of the result do not depend on it. Needs k
/// >= 1. Memory: buffers of at most 7 MiB a thread, and 5 MiB that the threads share, kept for the
/// next call.
void gemm_blocked(const Product& product);

}  // namespace kaiseki::cpu
