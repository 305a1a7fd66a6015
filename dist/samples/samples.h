// SPDX-License-Identifier: MIT
// Samples of native functions (docs/samples.md): each has its twin in web/samples, and both give
// the same bytes.
#pragma once

#include "dist/node/functions.h"

namespace kaiseki::dist {

/// "97" is "true", as it is a prime number; any whole number from 0 to 2^53.
ByteVector is_prime(ByteView input, const TicketContext& context);

/// {"seed": 1, "points": 100000}: how many of so many random points of the unit square lie within
/// the quarter of a circle.
ByteVector monte_carlo_pi(ByteView input, const TicketContext& context);

/// {"left": -2, "top": 1.2, "step": 0.01, "width": 64, "height": 64, "iterations": 255}: a tile of
/// the Mandelbrot set, a byte for each point, row by row: the iterations until it escapes.
ByteVector mandelbrot(ByteView input, const TicketContext& context);

/// The three, as "sample.primes", "sample.pi" and "sample.mandelbrot".
NodeFunctions sample_functions();

}  // namespace kaiseki::dist
