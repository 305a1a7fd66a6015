// SPDX-License-Identifier: MIT
// Distances of rows from centers, and sums of the rows of each cluster.
#include "matrix/backend/operations/cluster.h"

#include <algorithm>

#include "matrix/backend/backend.h"
#include "matrix/backend/opencl/launch.h"
#include "matrix/backend/opencl/opencl_kernels.h"
#include "matrix/backend/operations/reduce.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kRows = 16, kMostCenters = 12;  // of a work-item at a time
constexpr int64_t kManyFeatures = 64;

/// Centers in registers: even, so that few programs are built, and with few lanes unused.
std::string options(const OpenclDevice& device, int64_t count, int64_t features) {
  const int64_t passes = ceil_div(count, kMostCenters);
  const int64_t centers = ceil_div(count, passes);
  const bool along = device.style() == Style::cpu && features >= kManyFeatures;
  return define("CENTERS", centers == 1 ? 1 : (centers + 1) / 2 * 2) + define("ALONG", along);
}

template <class Args>
Launch distances_launch(OpenclDevice& device, std::string_view kernel, const Args& args) {
  Launch launch(device, "cluster.cl", kernel, options(device, args.count, args.features));
  launch.index(args.n).index(args.features).index(args.count).in(*args.rows).in(*args.centers);
  return launch;
}

void squared_distances(OpenclDevice& device, const SquaredDistancesArgs& args) {
  distances_launch(device, "squared_distances", args)
      .out(*args.distances)
      .over(ceil_div(args.n, kRows));
}

void nearest_labels(OpenclDevice& device, const NearestLabelsArgs& args) {
  distances_launch(device, "nearest_labels", args)
      .out(*args.labels)
      .out(*args.squares)
      .over(ceil_div(args.n, kRows));
}

void cluster_sums(OpenclDevice& device, const ClusterSumsArgs& args) {
  const int64_t pieces = cluster_pieces(args), piece = ceil_div(args.n, pieces);
  const int64_t width = args.features + 1;
  Tensor partial({pieces, args.count * width}, DType::f32, args.sums->device());
  const bool columns = device.style() == Style::gpu;
  Launch(device, "cluster.cl", columns ? "cluster_sums_columns" : "cluster_sums")
      .index(args.n)
      .index(args.features)
      .index(args.count)
      .index(pieces)
      .index(piece)
      .in(*args.rows)
      .in(*args.labels)
      .out(partial)
      .over(columns ? pieces * width : pieces);
  ReduceArgs total{
      .kind = Reduction::sum, .input = &partial, .shape = partial.shape(), .output = args.sums};
  total.reduced[0] = true;
  partial.device().backend().run(kReduce, total);
}

}  // namespace

void add_cluster(OpenclKernels& kernels) {
  kernels.add(kSquaredDistances, squared_distances);
  kernels.add(kNearestLabels, nearest_labels);
  kernels.add(kClusterSums, cluster_sums);
}

}  // namespace kaiseki::opencl
