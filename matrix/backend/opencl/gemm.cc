// SPDX-License-Identifier: MIT
// Matrix products: by the fastest candidate for their shape.
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/error.h"
#include "matrix/log.h"

namespace kaiseki::opencl {

namespace {

/// Where the driver refuses the kernels of a candidate, by the next one. A candidate's own kernels
/// only read A and B until the last, which writes C.
void run_gemm(OpenclDevice& device, const GemmArgs& args) {
  const GemmCandidate& chosen = choose_gemm(device, args);
  try {
    return chosen.run(device, args);
  } catch (const KernelError&) {
    for (const GemmCandidate& other : gemm_candidates(device.style())) try {
        if (&other != &chosen && other.applicable(device, args)) return other.run(device, args);
      } catch (const KernelError&) {
      }
    throw;
  }
}

}  // namespace

void OpenclBackend::gemm(const GemmArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (args.k == 0 || args.alpha == 0) {  // A and B are not read: a NaN in them counts for nothing
    GemmArgs scaled = args;
    scaled.k = 0;
    return gemm_direct(device_, scaled);
  }
  try {
    run_gemm(device_, args);
  } catch (const OutOfMemory& error) {
    log_warning_once(std::string(error.what()) +
                     "; computing matrix products without packing them, which is slower");
    gemm_direct(device_, args);
  }
}

}  // namespace kaiseki::opencl
