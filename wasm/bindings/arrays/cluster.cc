// SPDX-License-Identifier: MIT
// The steps of k-means (matrix/ops/cluster.h).
#include "matrix/ops/cluster.h"

#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::tuple kMembers<NearestLabels>{Member{"labels", &NearestLabels::labels},
                                                    Member{"squares", &NearestLabels::squares}};

void add_cluster_operations(OperationGroup&& table) {
  table.add("squared_distances(rows, centers)",
            "The squared distance of each row from each center, [centers, rows].",
            squared_distances);
  table.add("nearest_labels(rows, centers)",
            "The nearest center of each row (i32), of equal ones the first, and its squared "
            "distance.",
            nearest_labels);
  table.add("cluster_sums(rows, labels, count)",
            "The sum of the rows with each label (i32), and their number in the last column.",
            cluster_sums);
}

}  // namespace kaiseki::wasm
