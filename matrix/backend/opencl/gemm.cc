// SPDX-License-Identifier: MIT
// Matrix products: by the fastest candidate for their shape.
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/backend/opencl/gemm_kernels.h"

namespace kaiseki::opencl {

void OpenclBackend::gemm(const GemmArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (args.k == 0) return gemm_direct(device_, args);
  choose_gemm(device_, args).run(device_, args);
}

}  // namespace kaiseki::opencl
