// SPDX-License-Identifier: MIT
// The filter's gradient by the fast Fourier transform. For each frequency, the tiles of the input
// are multiplied by the tiles of the output's gradient. The products are summed over all tiles.
#pragma once

#include "matrix/backend/cpu/conv/fft_plan.h"

namespace kaiseki::conv {

/// Uses the tiles and spectra of the forward direction. args.filter = gradient + args.beta *
/// args.filter.
void fft_backward_filter(const FftPlan& t, const FftSpectra& spectra, const ConvArgs& args);

}  // namespace kaiseki::conv
