// SPDX-License-Identifier: MIT
// Batches for a network whose weights may fill its device. They leave it if a batch needs the room.
#pragma once

#include "nn/data/iterator.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// Iterator::next().
bool next_batch(Iterator& iterator, const Network& network, Batch& batch);

/// Batch::inputs() on the network's device.
Tensor inputs_of(const Batch& batch, const Network& network);

}  // namespace kaiseki::nn
