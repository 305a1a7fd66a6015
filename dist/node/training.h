// SPDX-License-Identifier: MIT
// Computes training tickets on a native node.
#pragma once

#include "dist/node/functions.h"
#include "matrix/device.h"

namespace kaiseki::dist {

/// The function for TrainingNode::run(). It computes one ticket at a time with all threads of the
/// device. Meanwhile it fetches the blobs of the next ticket, each once.
NodeFunction training_function(Device device);

}  // namespace kaiseki::dist
