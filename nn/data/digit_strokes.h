// SPDX-License-Identifier: MIT
// How people write the ten digits: strokes as control points of smooth curves. Inside nn/data.
#pragma once

#include <span>
#include <vector>

namespace kaiseki::nn {

/// In a unit box, x to the right and y down.
struct Point {
  float x = 0, y = 0;
};

/// A smooth curve through its points (Catmull-Rom); corners are where one stroke ends and the next
/// begins.
using Stroke = std::vector<Point>;
/// One way of writing a digit.
using Glyph = std::vector<Stroke>;

/// The ways of writing `digit` (0 to 9), the commonest first.
std::span<const Glyph> glyphs_of(int digit);

}  // namespace kaiseki::nn
