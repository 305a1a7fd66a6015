// SPDX-License-Identifier: MIT
// Training's tickets on a native node.
#pragma once

#include "dist/node/functions.h"
#include "matrix/device.h"

namespace kaiseki::dist {

/// TrainingNode::run(). One ticket at a time is computed, by all threads of the device; blobs of
/// the next are fetched meanwhile, each once.
NodeFunction training_function(Device device);

}  // namespace kaiseki::dist
