// SPDX-License-Identifier: MIT
#include "matrix/ops/cluster.h"

#include <algorithm>

#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/cluster.h"
#include "matrix/ops/check.h"

namespace kaiseki {
namespace {

void check_matrix(const Tensor& x, std::string_view what, std::string_view name) {
  check_tensor(x, what, name);
  require(x.rank() == 2, name, "expected ", what, " of rank 2, got ", x.shape());
}

void check_rows_and_centers(const Tensor& rows, const Tensor& centers, std::string_view name) {
  check_matrix(rows, "rows", name);
  check_matrix(centers, "centers", name);
  check_same_device(rows, centers, name);
  require(centers.dim(0) > 0 && centers.dim(1) == rows.dim(1) && rows.dim(1) > 0, name,
          "expected centers of shape [count, features] for rows ", rows.shape(), ", got ",
          centers.shape());
}

}  // namespace

Tensor squared_distances(const Tensor& rows, const Tensor& centers) {
  check_rows_and_centers(rows, centers, "squared_distances");
  Tensor distances({centers.dim(0), rows.dim(0)}, DType::f32, rows.device());
  if (distances.size() == 0) return distances;
  const Tensor x = rows.contiguous(), to = centers.contiguous();
  run_operation(kSquaredDistances, distances, {x.dim(0), x.dim(1), to.dim(0), &x, &to, &distances});
  return distances;
}

NearestLabels nearest_labels(const Tensor& rows, const Tensor& centers) {
  check_rows_and_centers(rows, centers, "nearest_labels");
  NearestLabels result{Tensor({rows.dim(0)}, DType::i32, rows.device()),
                       Tensor({rows.dim(0)}, DType::f32, rows.device())};
  if (rows.dim(0) == 0) return result;
  const Tensor x = rows.contiguous(), to = centers.contiguous();
  run_operation(kNearestLabels, x,
                {x.dim(0), x.dim(1), to.dim(0), &x, &to, &result.labels, &result.squares});
  return result;
}

Tensor cluster_sums(const Tensor& rows, const Tensor& labels, int64_t count) {
  constexpr std::string_view kName = "cluster_sums";
  check_matrix(rows, "rows", kName);
  check_tensor(labels, "labels", kName, rows.device(), DType::i32);
  require(labels.shape() == Shape{rows.dim(0)}, kName, "expected labels of shape [", rows.dim(0),
          "], got ", labels.shape());
  require(count > 0, kName, "expected a count of 1 or more, got ", count);
  if (rows.dim(0) == 0) return Tensor::zeros({count, rows.dim(1) + 1}, DType::f32, rows.device());
  if (rows.dim(1) == 0) {  // only the numbers of rows
    const Tensor zeros = Tensor::zeros({rows.dim(0), 1}, DType::f32, rows.device());
    return cluster_sums(zeros, labels, count).slice(1, 1, 1).contiguous();
  }
  const Tensor x = rows.contiguous(), of = labels.contiguous();
  if (x.device().is_cpu()) {
    const auto ends = std::minmax_element(of.data<int32_t>(), of.data<int32_t>() + of.size());
    require(*ends.first >= 0 && *ends.second < count, kName, "expected labels from 0 to ",
            count - 1, ", got ", *ends.first < 0 ? *ends.first : *ends.second);
  }
  Tensor sums({count, x.dim(1) + 1}, DType::f32, x.device());
  run_operation(kClusterSums, sums, {x.dim(0), x.dim(1), count, &x, &of, &sums});
  return sums;
}

}  // namespace kaiseki
