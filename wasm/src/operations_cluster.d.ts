// SPDX-License-Identifier: MIT
// Written by wasm/operation_types.js from the table in wasm/bindings/arrays/cluster.cc.

export interface ClusterMethods<Tensor> {
  /** The squared distance of each row from each center, [centers, rows]. */
  squared_distances(centers: Tensor): Tensor;
  /** The nearest center of each row (i32), of equal ones the first, and its squared distance. */
  nearest_labels(centers: Tensor): { labels: Tensor; squares: Tensor };
  /** The sum of the rows with each label (i32), and their number in the last column. */
  cluster_sums(labels: Tensor, count: number): Tensor;
}
