// SPDX-License-Identifier: MIT
// Growing a tree: the best split of each node, depth first (Breiman, Friedman, Olshen, Stone,
// "Classification and regression trees", 1984).
#pragma once

#include <vector>

#include "ml/tree/tree.h"
#include "ml/tree/tree_data.h"
#include "ml/tree/tree_options.h"
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {

/// The samples are from targets.samples(). A leaf has the parts of the classes in its weight.
Tree grow_class_tree(const TreeData& data, std::vector<TreeSample> samples,
                     const ClassTargets& targets, TreeCriterion criterion,
                     const TreeGrowth& growth);

/// A leaf has the mean of its targets.
Tree grow_regression_tree(const TreeData& data, std::vector<TreeSample> samples,
                          const RealTargets& targets, const TreeGrowth& growth);

}  // namespace kaiseki::ml
