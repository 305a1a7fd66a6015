// SPDX-License-Identifier: MIT
// The inner loops of depthwise convolution. A padded plane is packed by the residues of its rows
// and columns modulo the stride, so that output (i, j) reads tap t at i * pitch + j + offset[t]:
// all outputs of a plane are one run, with a few between the rows that mean nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix/conv/solver.h"
#include "matrix/conv/taps.h"

namespace kaiseki::conv {

/// Floats behind a packed plane and a run: kernels read and write whole vectors.
constexpr int64_t kRunSlack = 64;

/// One axis of a packed plane: residue (position - low) % stride, then (position - low) / stride.
struct PackedAxis {
  int64_t in = 0, stride = 1, low = 0, length = 0;
  bool tight = false;  // no padding: taps that reach beyond are masked
  /// Serves all of `taps`, which agree in `in` and `stride`; tight where the input's residues are
  /// as long as the output and that is allowed.
  PackedAxis(std::span<const Taps> taps, bool may_be_tight);
};

/// [row residue][column residue][rows.length][columns.length], each pair of residues with slack
struct PackedPlane {
  PackedAxis rows, columns;
  int64_t pitch() const { return columns.length; }
  /// Of one pair of residues: rows are written in ascending order, and a little too far.
  int64_t lead() const { return columns.tight ? columns.length : 0; }
  int64_t part() const { return 2 * lead() + rows.length * columns.length + kRunSlack; }
  int64_t floats() const { return rows.stride * columns.stride * part(); }
  int64_t scratch_floats() const { return 2 * columns.length + kRunSlack; }
  /// Where tap (row position, column position) of output (0, 0) lies.
  int64_t offset(int64_t row, int64_t column) const;
  /// From the first output to the last of a plane.
  int64_t run(int64_t out_h, int64_t out_w) const { return (out_h - 1) * pitch() + out_w; }
};
void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out);

/// Taps of a run, by column where the plane is tight: then tap i is of column i / rows, whose bits
/// are set for the outputs that it reaches.
struct RunTaps {
  std::vector<int64_t> offsets;
  int64_t rows = 0;                          // taps of a column
  std::vector<std::vector<uint32_t>> masks;  // of each column, none where the plane is not tight
};

/// out[q] = bias + sum over taps t of weights[t] * in[offsets[t] + q], for q < count.
void correlate_run(int64_t count, const RunTaps& taps, const float* weights, const float* in,
                   float bias, float* out);

/// sums[t] += the sum over q < count of dy[q] * in[offsets[t] + q], lane by lane: kRunLanes floats
/// for each tap.
constexpr int64_t kRunLanes = 16;
void sum_run(int64_t count, const RunTaps& taps, const float* dy, const float* in, float* sums);

/// Rows of a plane to a run of the given pitch, with zeros between them.
void widen_rows(int64_t rows, int64_t width, const float* y, int64_t pitch, float* run);
/// And back: y[i * y_pitch + j] = activation(run[i * pitch + j]); of the activations only none,
/// relu and leaky_relu.
void narrow_rows(int64_t rows, int64_t width, const float* run, int64_t pitch,
                 Activation activation, float slope, float* y, int64_t y_pitch);
/// The same for a row whose even columns are of one run and whose odd ones are of another.
void narrow_pairs(int64_t rows, int64_t width, const float* even, const float* odd, int64_t pitch,
                  float* y, int64_t y_pitch);

}  // namespace kaiseki::conv
