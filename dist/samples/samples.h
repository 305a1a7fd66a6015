// SPDX-License-Identifier: MIT
// Sample functions (docs/samples.md). Each has a JavaScript twin in web/samples that returns the
// same bytes.
#pragma once

#include "dist/node/functions.h"

namespace kaiseki::dist {

/// Whether a whole number from 0 to 2^53 is prime: "97" gives "true".
ByteVector is_prime(ByteView input, const TicketContext& context);

/// {"seed": 1, "points": 100000}: the number of that many random points in the unit
/// square that lie within the quarter circle.
ByteVector monte_carlo_pi(ByteView input, const TicketContext& context);

/// {"left": -2, "top": 1.2, "step": 0.01, "width": 64, "height": 64, "iterations": 255}: a tile of
/// the Mandelbrot set, row by row. The byte of a point is the number of iterations until it
/// escapes.
ByteVector mandelbrot(ByteView input, const TicketContext& context);

/// The functions above as "sample.primes", "sample.pi" and "sample.mandelbrot".
NodeFunctions sample_functions();

}  // namespace kaiseki::dist
