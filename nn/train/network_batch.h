// SPDX-License-Identifier: MIT
// Batches for a network whose weights may fill its device. If a batch needs room, weights leave.
#pragma once

#include "nn/data/iterator.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// Calls Iterator::next().
bool next_batch(Iterator& iterator, const Network& network, Batch& batch);

/// Returns Batch::inputs() on the network's device.
Tensor inputs_of(const Batch& batch, const Network& network);

}  // namespace kaiseki::nn
