// SPDX-License-Identifier: MIT
// The filter's gradient by the fast Fourier transform: for each frequency the product of the
// input's tiles with those of the output's gradient, added up over all tiles.
#pragma once

#include "matrix/conv/fft_plan.h"

namespace kaiseki::conv {

/// Forward's tiles and spectra; args.filter = gradient + args.beta * args.filter.
void fft_backward_filter(const FftPlan& t, const FftSpectra& spectra, const ConvArgs& args);

}  // namespace kaiseki::conv
