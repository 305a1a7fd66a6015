// SPDX-License-Identifier: MIT
// The inner loops of depthwise convolution. A padded plane is packed by the residues of its rows
// and columns modulo the stride. Output (i, j) then reads tap t at i * pitch + j + offset[t]. All
// outputs of a plane therefore form one run. The few values between the rows of the run are
// meaningless.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix/backend/cpu/conv/taps.h"
#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Extra floats after a packed plane and a run, because kernels read and write whole vectors.
constexpr int64_t kRunSlack = 64;

/// One axis of a packed plane: first by residue (position - low) % stride, then by (position - low)
/// / stride.
struct PackedAxis {
  int64_t in = 0, stride = 1, low = 0, length = 0;
  bool tight = false;  // stored without padding; taps outside the plane are masked
  /// Covers all of `taps`, which have the same `in` and `stride`. The axis is tight if may_be_tight
  /// is set and the input's residues are as long as the output.
  PackedAxis(std::span<const Taps> taps, bool may_be_tight);
};

/// Layout: [row residue][column residue][rows.length][columns.length]. Each pair of residues has
/// slack.
struct PackedPlane {
  PackedAxis rows, columns;
  int64_t pitch() const { return columns.length; }
  /// Floats before each pair of residues. Rows are written in ascending order, and each write
  /// exceeds its row.
  int64_t lead() const { return columns.tight ? columns.length : 0; }
  int64_t part() const { return 2 * lead() + rows.length * columns.length + kRunSlack; }
  int64_t floats() const { return rows.stride * columns.stride * part(); }
  int64_t scratch_floats() const { return 2 * columns.length + kRunSlack; }
  /// The position that output (0, 0) reads for tap (row position, column position).
  int64_t offset(int64_t row, int64_t column) const;
  /// The number of floats from the first output of a plane to the last.
  int64_t run(int64_t out_h, int64_t out_w) const { return (out_h - 1) * pitch() + out_w; }
};
void pack_plane(const PackedPlane& plane, const float* x, float* scratch, float* out);

/// The taps of a run. If the plane is tight, tap i belongs to column i / rows. The mask of a column
/// has the bits of the outputs that it reaches.
struct RunTaps {
  std::vector<int64_t> offsets;
  int64_t rows = 0;                          // taps per column
  std::vector<std::vector<uint32_t>> masks;  // one per column; empty if the plane is not tight
};

/// out[q] = bias + sum over taps t of weights[t] * in[offsets[t] + q], for q < count.
void correlate_run(int64_t count, const RunTaps& taps, const float* weights, const float* in,
                   float bias, float* out);

/// For each tap t, adds the sum over q < count of dy[q] * in[offsets[t] + q] to sums[t]. Each tap
/// has kRunLanes partial sums, one per lane.
constexpr int64_t kRunLanes = 16;
void sum_run(int64_t count, const RunTaps& taps, const float* dy, const float* in, float* sums);

/// Copies the rows of a plane into a run of the given pitch, with zeros between them.
void widen_rows(int64_t rows, int64_t width, const float* y, int64_t pitch, float* run);
/// The reverse of widen_rows(): y[i * y_pitch + j] = activation(run[i * pitch + j]). The activation
/// is none, relu or leaky_relu.
void narrow_rows(int64_t rows, int64_t width, const float* run, int64_t pitch,
                 Activation activation, float slope, float* y, int64_t y_pitch);
/// The same for a row with its even columns in one run and its odd columns in another.
void narrow_pairs(int64_t rows, int64_t width, const float* even, const float* odd, int64_t pitch,
                  float* y, int64_t y_pitch);

}  // namespace kaiseki::conv
