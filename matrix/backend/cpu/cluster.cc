// SPDX-License-Identifier: MIT
// Distances of rows from centers, and sums of the rows of each cluster.
#include "matrix/backend/operations/cluster.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 1 << 16;  // differences per task
constexpr int kLanes = 16;          // independent sums, which the compiler puts into vectors

float squared_distance(const float* a, const float* b, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const float difference = a[i + lane] - b[i + lane];
      lanes[lane] += difference * difference;
    }
  for (; i < count; ++i) lanes[i % kLanes] += (a[i] - b[i]) * (a[i] - b[i]);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

template <class Args>
int64_t rows_per_task(const Args& args) {
  return std::max<int64_t>(1, kWork / (args.features * args.count));
}

void squared_distances(const SquaredDistancesArgs& args) {
  const float *rows = args.rows->data<float>(), *centers = args.centers->data<float>();
  float* out = args.distances->overwrite<float>();
  parallel_for(args.n, rows_per_task(args), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < args.count; ++j)
        out[j * args.n + i] =
            squared_distance(rows + i * args.features, centers + j * args.features, args.features);
  });
}

void nearest_labels(const NearestLabelsArgs& args) {
  const float *rows = args.rows->data<float>(), *centers = args.centers->data<float>();
  int32_t* labels = args.labels->overwrite<int32_t>();
  float* squares = args.squares->overwrite<float>();
  parallel_for(args.n, rows_per_task(args), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      labels[i] = 0;
      squares[i] = std::numeric_limits<float>::infinity();
      for (int64_t j = 0; j < args.count; ++j) {
        const float squared =
            squared_distance(rows + i * args.features, centers + j * args.features, args.features);
        if (!(squared < squares[i])) continue;
        squares[i] = squared;
        labels[i] = static_cast<int32_t>(j);
      }
    }
  });
}

void cluster_sums(const ClusterSumsArgs& args) {
  const float* rows = args.rows->data<float>();
  const int32_t* labels = args.labels->data<int32_t>();
  const int64_t width = args.features + 1, pieces = cluster_pieces(args);
  const int64_t piece_rows = ceil_div(args.n, pieces);
  std::vector<float> partial(static_cast<size_t>(pieces * args.count * width));
  parallel_for(args.n, piece_rows, [&](int64_t begin, int64_t end) {
    float* sums = partial.data() + begin / piece_rows * args.count * width;
    for (int64_t i = begin; i < end; ++i) {
      float* sum = sums + labels[i] * width;
      for (int64_t f = 0; f < args.features; ++f) sum[f] += rows[i * args.features + f];
      sum[args.features] += 1;
    }
  });
  float* out = args.sums->overwrite<float>();
  std::copy_n(partial.data(), args.count * width, out);
  for (int64_t p = 1; p < pieces; ++p)
    for (int64_t i = 0; i < args.count * width; ++i) out[i] += partial[p * args.count * width + i];
}

}  // namespace

namespace cpu {

void add_cluster(KernelTable& kernels) {
  kernels.add(kSquaredDistances, squared_distances);
  kernels.add(kNearestLabels, nearest_labels);
  kernels.add(kClusterSums, cluster_sums);
}

}  // namespace cpu

}  // namespace kaiseki
