// SPDX-License-Identifier: MIT
// Which candidate computes a matrix product: measured once for each class of shapes (transposes,
// powers of two of m, n, k and the batch), checked against another kernel, and remembered on disk.
#pragma once

#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/tuning_file.h"

namespace kaiseki::opencl {

/// The class "tn m5 n10 k10 b0" on this device; and "clblast" where that is a candidate, so that
/// installing it counts.
TuningKey gemm_key(OpenclDevice& device, const GemmArgs& args);

/// The candidate for these arguments. The first product of a class measures all that apply; where
/// the device has no room for that, the best guess is taken and nothing remembered.
const GemmCandidate& choose_gemm(OpenclDevice& device, const GemmArgs& args);

/// The fastest of these whose results are right, remembered for the class. Throws DeviceError when
/// none is, OutOfMemory where the device has no room for a second C or for what a candidate packs.
const GemmCandidate& measure_gemm(OpenclDevice& device, const GemmArgs& args,
                                  std::span<const GemmCandidate> candidates);

/// For tests and benchmarks: forgets what was measured in this process, not what is on disk.
void forget_gemm_choices();

}  // namespace kaiseki::opencl
