// SPDX-License-Identifier: MIT
// Trees in files: the nodes of all trees as a few tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ml/archive.h"
#include "ml/tree/tree.h"

namespace kaiseki::ml {

/// Writes or reads `count` fitted trees. If `outputs` has a value, each tree must have that many.
/// Refuses nodes whose children do not exist or form a circle.
void archive_trees(Archive& archive, std::vector<Tree>& trees, int64_t count,
                   std::optional<int64_t> outputs);

}  // namespace kaiseki::ml
