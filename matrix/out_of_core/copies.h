// SPDX-License-Identifier: MIT
// Copies between a part of a tensor and a piece. The piece is a tensor on the device. The tensor
// itself may have left the device.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/memory/raw_memory.h"
#include "matrix/tensor.h"

namespace kaiseki::pieces {

/// Returns the copies between `part`, a view of a tensor that left its device, and `piece`. Both
/// have the same shape.
std::vector<CopyRegion> copy_regions(const Tensor& part, const Tensor& piece);

/// The number of rows that a copy between the part and a contiguous piece has.
int64_t rows_of_copy(const Tensor& part);

/// Returns whether parts of the tensor can be copied while it is outside. This needs
/// positive strides.
bool can_copy_parts(const Tensor& whole);

/// Copies the part to the piece. If the tensor left its device, the copy runs beside the device's
/// kernels.
void copy_to_piece(const Tensor& part, Tensor& piece);
/// Copies the piece to the part, in the same way.
void copy_from_piece(Tensor& part, const Tensor& piece);

}  // namespace kaiseki::pieces
