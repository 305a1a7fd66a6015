// SPDX-License-Identifier: MIT
// Matrix products, each by the fastest candidate for its shape.
#include "matrix/backend/operations/gemm.h"

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/backend/opencl/opencl_kernels.h"

namespace kaiseki::opencl {

namespace {

/// If the driver refuses a candidate's kernels, the next candidate runs. This is safe because only
/// the last kernel of a candidate writes C.
void run_gemm(OpenclDevice& device, const GemmArgs& args) {
  const GemmCandidate* chosen = gemm_for(device, args);
  if (!chosen) chosen = &measure_gemm(device, args);
  try {
    return chosen->run(device, args);
  } catch (const KernelError&) {
    for (const GemmCandidate& other : gemm_candidates(device.style())) try {
        if (&other != chosen && other.applicable(device, args)) return other.run(device, args);
      } catch (const KernelError&) {
      }
    throw;
  }
}

void gemm(OpenclDevice& device, const GemmArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return;
  if (args.k == 0 || args.alpha == 0) {  // A and B are not read, so a NaN in them has no effect
    GemmArgs scaled = args;
    scaled.k = 0;
    return gemm_direct(device, scaled);
  }
  if (args.c->dtype() == DType::f64) return gemm_f64(device, args);
  try {
    run_gemm(device, args);
  } catch (const OutOfMemory& error) {
    log_warning_once(std::string(error.what()) +
                     "; matrix products are computed without packing, which is slower");
    gemm_direct(device, args);
  }
}

}  // namespace

void add_gemm(OpenclKernels& kernels) { kernels.add(kGemm, gemm); }

}  // namespace kaiseki::opencl
