// SPDX-License-Identifier: MIT
// Shapes of the ten handwritten digits: strokes as control points of smooth curves. Internal to
// nn/data.
#pragma once

#include <span>
#include <vector>

namespace kaiseki::nn {

/// A point in a unit box. x points to the right, y down.
struct Point {
  float x = 0, y = 0;
};

/// A smooth curve through its points (Catmull-Rom). A corner is the end of one stroke and the start
/// of the next.
using Stroke = std::vector<Point>;
/// One way of writing a digit.
using Glyph = std::vector<Stroke>;

/// The ways of writing `digit` (0 to 9), the most common first.
std::span<const Glyph> glyphs_of(int digit);

}  // namespace kaiseki::nn
