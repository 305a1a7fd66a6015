// SPDX-License-Identifier: MIT
// Trees in files: the nodes of all trees as a few tensors.
#pragma once

#include <cstdint>
#include <span>

#include "ml/archive.h"
#include "ml/tree/tree.h"

namespace kaiseki::ml {

/// Writes or reads fitted trees. `outputs`: the number that each tree must have, or -1 for any.
/// Refuses nodes that would lead nowhere or in a circle.
void archive_trees(Archive& archive, std::span<Tree> trees, int64_t outputs);

}  // namespace kaiseki::ml
