// SPDX-License-Identifier: MIT
#include "matrix/out_of_core/copies.h"

#include <algorithm>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"

namespace kaiseki::pieces {
namespace {

/// Axes of two views that are joined to one axis. Pitches are bytes.
struct CopyAxis {
  uint64_t count = 0, part_pitch = 0, piece_pitch = 0;

  bool follows(const CopyAxis& inner) const {
    return part_pitch == inner.count * inner.part_pitch &&
           piece_pitch == inner.count * inner.piece_pitch;
  }
};

/// The axes from the innermost to the outermost. The first one is a row of bytes.
std::vector<CopyAxis> copy_axes(const Shape& shape, uint64_t size, const Shape& part_strides,
                                const Shape& piece_strides) {
  std::vector<CopyAxis> axes = {{size, 1, 1}};
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    const CopyAxis axis{static_cast<uint64_t>(shape[i]),
                        static_cast<uint64_t>(part_strides[i]) * size,
                        static_cast<uint64_t>(piece_strides[i]) * size};
    if (axis.follows(axes.back()))
      axes.back().count *= axis.count;
    else
      axes.push_back(axis);
  }
  return axes;
}

/// Returns whether a copy of a rectangle can have these planes. Some drivers require that a plane
/// consists of whole rows.
bool are_planes(const CopyAxis& rows, const CopyAxis& planes) {
  const auto are = [&](uint64_t row, uint64_t plane) {
    return plane >= rows.count * row && plane % row == 0;
  };
  return are(rows.part_pitch, planes.part_pitch) && are(rows.piece_pitch, planes.piece_pitch);
}

/// Adds the regions of all indices of the axes from `count` on.
void add_regions(std::vector<CopyRegion>& regions, CopyRegion region,
                 const std::vector<CopyAxis>& axes, size_t count) {
  if (count == axes.size()) return regions.push_back(region);
  const CopyAxis& axis = axes[count];
  for (uint64_t i = 0; i < axis.count; ++i) {
    add_regions(regions, region, axes, count + 1);
    region.host.first += axis.part_pitch;
    region.block.first += axis.piece_pitch;
  }
}

uint64_t first_byte(const Tensor& tensor) {
  return static_cast<uint64_t>(tensor.offset()) * dtype_size(tensor.dtype());
}

void copy_on_device(const Tensor& from, Tensor& to) { run_operation(kCopy, from, {&from, &to}); }

}  // namespace

std::vector<CopyRegion> copy_regions(const Tensor& part, const Tensor& piece) {
  const std::vector<CopyAxis> axes =
      copy_axes(part.shape(), dtype_size(part.dtype()), part.strides(), piece.strides());
  CopyRegion region{.row = axes[0].count,
                    .block = {.first = first_byte(piece)},
                    .host = {.first = first_byte(part)}};
  size_t used = 1;
  if (axes.size() > 1) {
    region.rows = axes[1].count;
    region.host.row_pitch = axes[1].part_pitch;
    region.block.row_pitch = axes[1].piece_pitch;
    used = 2;
  }
  if (axes.size() > 2 && are_planes(axes[1], axes[2])) {
    region.planes = axes[2].count;
    region.host.plane_pitch = axes[2].part_pitch;
    region.block.plane_pitch = axes[2].piece_pitch;
    used = 3;
  }
  std::vector<CopyRegion> regions;
  add_regions(regions, region, axes, used);
  return regions;
}

int64_t rows_of_copy(const Tensor& part) {
  const std::vector<CopyAxis> axes = copy_axes(part.shape(), dtype_size(part.dtype()),
                                               part.strides(), part.shape().contiguous_strides());
  return part.size() * static_cast<int64_t>(dtype_size(part.dtype())) /
         static_cast<int64_t>(axes[0].count);
}

bool can_copy_parts(const Tensor& whole) {
  for (int i = 0; i < whole.rank(); ++i)
    if (whole.dim(i) > 1 && whole.strides()[i] <= 0) return false;
  return true;
}

void copy_to_piece(const Tensor& part, Tensor& piece) {
  if (!part.buffer().left_device()) return copy_on_device(part, piece);
  for (const CopyRegion& region : copy_regions(part, piece))
    part.buffer().send_to(piece.buffer(), region);
}

void copy_from_piece(Tensor& part, const Tensor& piece) {
  if (!part.buffer().left_device()) return copy_on_device(piece, part);
  for (const CopyRegion& region : copy_regions(part, piece))
    part.buffer().receive_from(piece.buffer(), region);
}

}  // namespace kaiseki::pieces
