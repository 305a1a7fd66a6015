// SPDX-License-Identifier: MIT
// The loops of the expectation step for variances without covariances, for the best instruction set
// of this machine. Samples are columns, so that vectors run over samples.
#pragma once

#include <cstdint>

namespace kaiseki::ml {

struct DiagonalKernels {
  static constexpr int64_t kRows = 128;  // samples of a block: feature j is at block[j * kRows]

  /// out[i] = sum over j of ((block[j][i] - means[j]) factors[j])^2
  void (*squares)(int64_t features, const float* block, const float* means, const float* factors,
                  float* out);
  /// Adds the sums over i of weights[i] d and of weights[i] d^2 to first[j] and second[j], for
  /// d = block[j][i] - means[j].
  void (*add_moments)(int64_t features, const float* block, const float* weights,
                      const float* means, double* first, double* second);
};

/// Selects the kernels on the first call.
const DiagonalKernels& diagonal_kernels();

}  // namespace kaiseki::ml
