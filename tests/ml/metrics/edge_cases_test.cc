// SPDX-License-Identifier: MIT
// Metrics of views with any strides, on other devices, and of negative labels.
#include <limits>

#include "ml/metrics/classification.h"
#include "ml/metrics/ranking.h"
#include "ml/metrics/regression.h"
#include "ml/metrics/silhouette.h"
#include "tests/support/ml_edges.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// A view of a vector in a matrix, so that its step is 3.
Tensor column_of(const Tensor& values) {
  Tensor matrix = Tensor::zeros({values.size(), 3}, values.dtype(), values.device());
  Tensor column = matrix(All, 1);
  copy_into(column, values);
  return column;
}

}  // namespace

TEST_CASE("metrics: views with steps, and other devices") {
  const std::vector<double> truth{-5, -5, 2, 2, -5}, predicted{-5, 2, 2, 2, -5};
  const std::vector<double> scores{0.1, 0.8, 0.7, 0.9, 0.2};
  for (Device device : all_devices()) {
    const Tensor t = column_of(integers(truth, {5}, device));
    const Tensor p = column_of(integers(predicted, {5}, device));
    const Tensor s = column_of(floats(scores, {5}, device));
    CHECK(accuracy_score(t, p) == 0.8);
    CHECK(confusion_matrix(t, p).to_vector<int32_t>() == std::vector<int32_t>{2, 1, 0, 2});
    CHECK(f1_score(t, p, {.pos_label = 2}) == doctest::Approx(0.8));
    CHECK(f1_score(t, p, {.pos_label = -5}) == doctest::Approx(0.8));
    CHECK(roc_auc_score(t, s) == doctest::Approx(5.0 / 6));
    CHECK(roc_curve(t, s, {.pos_label = 2}).tpr.back() == 1);
    const Tensor y = floats({1, 2, 3, 5, 9}, {5}, device);
    const Tensor guess = floats({1, 2, 4, 5, 8}, {5}, device);
    CHECK(r2_score(column_of(y), column_of(guess)) == doctest::Approx(1 - 2 / 40.0));
    CHECK(mean_squared_error(column_of(y), column_of(guess)) == doctest::Approx(0.4));
  }
  const MlSet set = blobs_set(60, 4, 3, 7);
  const double expected = silhouette_score(set.x, set.y);
  for (const Tensor& view : strided_views(set.x))
    CHECK(silhouette_score(view, column_of(set.y)) == expected);
}

TEST_CASE("metrics: one sample, one class, and labels at the ends of i32") {
  const double low = std::numeric_limits<int32_t>::min(), high = -(low + 1);
  const Tensor ends = integers({low, high, high}, {3}), other = integers({low, high, low}, {3});
  CHECK(accuracy_score(ends, other) == doctest::Approx(2.0 / 3));
  CHECK(confusion_matrix(ends, other).to_vector<int32_t>() == std::vector<int32_t>{1, 0, 1, 1});
  const Tensor one = integers({-4}, {1});
  CHECK(accuracy_score(one, one) == 1);
  CHECK(confusion_matrix(one, one).to_vector<int32_t>() == std::vector<int32_t>{1});
  CHECK(f1_score(one, one, {.pos_label = -4}) == 1);
  CHECK(f1_score(one, one, {.average = ScoreAverage::macro}) == 1);
  CHECK(mean_squared_error(floats({3}, {1}), floats({1}, {1})) == 4);
  CHECK_THROWS_AS(silhouette_score(floats({3}, {1, 1}), one), ShapeError);
  CHECK_THROWS_AS(roc_auc_score(one, floats({3}, {1})), ShapeError);
}

TEST_CASE("silhouette_score: bad samples") {
  check_bad_samples([](const Tensor& x) {
    silhouette_score(x, integers({0, 1, 0, 1}, {4}).slice(0, 0, x.defined() ? x.dim(0) : 4));
  });
}
