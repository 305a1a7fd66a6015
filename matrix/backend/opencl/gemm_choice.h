// SPDX-License-Identifier: MIT
// Selects the candidate for a matrix product. The tuner measures each class of shapes once and
// stores the results in the tuning file. A class consists of the transposes and of powers of two of
// m, n, k and the batch.
#pragma once

#include <vector>

#include "matrix/backend/opencl/gemm_kernels.h"
#include "matrix/tune/file.h"

namespace kaiseki::opencl {

/// The key has the class, such as "tn m5 n10 k10 b0", and "clblast" if CLBlast is a candidate.
/// Installing CLBlast therefore starts a new measurement.
TuningKey gemm_key(OpenclDevice& device, const GemmArgs& args);

/// Returns the candidate for these arguments by the known results. If the policy wants the class to
/// be measured first, returns nullptr. A deterministic policy excludes CLBlast; the library's own
/// candidates all give the same bits.
const GemmCandidate* gemm_for(OpenclDevice& device, const GemmArgs& args);

/// Measures the unmeasured candidates of the class on a separate C and stores the results. Returns
/// the candidate for these arguments. If another thread is measuring, or the device has no room, it
/// returns the best guess and stores nothing.
const GemmCandidate& measure_gemm(OpenclDevice& device, const GemmArgs& args);

/// Returns the results of these candidates in their order. Omits candidates that fail, except for
/// candidates with wrong values or a refused kernel. Throws KernelError if the check itself cannot
/// run. Throws OutOfMemory if the device has no room for a second C or for a candidate's packed
/// data.
std::vector<TuningResult> time_gemm(OpenclDevice& device, const GemmArgs& args,
                                    const std::vector<const GemmCandidate*>& candidates);

}  // namespace kaiseki::opencl
