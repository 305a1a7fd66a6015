// SPDX-License-Identifier: MIT
#include "ml/decomposition/pca.h"

#include <limits>

#include "base/error.h"
#include "matrix/ops/gemm.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_data.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::PCA;
using ml::PcaSolver;

TEST_CASE("PCA: the results of scikit-learn") {
  const Json reference = load_ml_reference("decomposition");
  for (const Json& item : member(reference, "pca").items) {
    const std::string name = member(item, "data").string;
    CAPTURE(name);
    const int64_t count = integer_of(item, "count");
    const MlData data = load_ml_data(name);
    PCA model({.n_components = count,
               .whiten = member(item, "whiten").boolean,
               .solver = PcaSolver::full});
    model.fit(data.x);
    check_close_up_to_signs(doubles(model.components()), numbers_of(item, "components"), count,
                            1e-4);
    check_close(model.explained_variance(), numbers_of(item, "variance"), 1e-4);
    check_close(model.explained_variance_ratio(), numbers_of(item, "ratio"), 1e-4);
    check_close(model.singular_values(), numbers_of(item, "singular"), 1e-4);
    CHECK(model.noise_variance() == doctest::Approx(number_of(item, "noise")).epsilon(1e-3));
    const Tensor scores = model.transform(data.x.slice(0, 0, 5)).transpose().contiguous();
    const Doubles expected = numbers_of(item, "scores");
    double largest = 1;
    for (const double value : expected) largest = std::max(largest, std::abs(value));
    check_close_up_to_signs(doubles(scores), expected, count, 1e-4 * largest);
  }
}

TEST_CASE("PCA: a ratio selects as many components as in scikit-learn") {
  const Json reference = load_ml_reference("decomposition");
  for (const Json& item : member(reference, "counts").items) {
    PCA model({.n_components = number_of(item, "ratio")});
    model.fit(load_ml_data(member(item, "data").string).x);
    CHECK(model.n_components() == integer_of(item, "count"));
  }
}

TEST_CASE("PCA: fewer samples than features") {
  const Json reference = load_ml_reference("decomposition");
  const Json& item = member(reference, "wide");
  PCA model({.n_components = 7});
  model.fit(load_ml_data("digits").x.slice(0, 0, 40));
  check_close_up_to_signs(doubles(model.components()), numbers_of(item, "components"), 7, 1e-4);
  check_close(model.explained_variance(), numbers_of(item, "variance"), 1e-4);
  check_close(model.explained_variance_ratio(), numbers_of(item, "ratio"), 1e-4);
  CHECK(model.noise_variance() == doctest::Approx(number_of(item, "noise")).epsilon(1e-3));
}

TEST_CASE("PCA: the randomized solver finds the largest components") {
  const MlData data = load_ml_data("digits");
  PCA full({.n_components = 6, .solver = PcaSolver::full});
  PCA fast({.n_components = 6, .solver = PcaSolver::randomized, .iterated_power = 7});
  PCA again({.n_components = 6, .solver = PcaSolver::randomized, .iterated_power = 7});
  full.fit(data.x);
  fast.fit(data.x);
  set_thread_count(3);
  again.fit(data.x);
  set_thread_count(0);
  check_close(fast.components(), doubles(full.components()), 0, 2e-3);
  check_close(fast.explained_variance(), doubles(full.explained_variance()), 1e-4);
  check_close(fast.explained_variance_ratio(), doubles(full.explained_variance_ratio()), 1e-4);
  CHECK(fast.noise_variance() == doctest::Approx(full.noise_variance()).epsilon(1e-3));
  check_close(again.components(), doubles(fast.components()), 0);
}

TEST_CASE("PCA: the variance and its ratio are separate, and without NaN, unlike in the original") {
  const Tensor x = random_tensor({50, 3}, 1);
  PCA model;
  model.fit(x);
  double variance = 0, ratio = 0;
  for (const double value : doubles(model.explained_variance())) variance += value;
  for (const double value : doubles(model.explained_variance_ratio())) ratio += value;
  CHECK(model.explained_variance().shape() == Shape{3});
  CHECK(ratio == doctest::Approx(1));
  CHECK(variance == doctest::Approx(3.0 / 3).epsilon(0.3));  // the features are uniform in -1..1
}

TEST_CASE("PCA: inverse_transform restores the samples, which the original cannot do") {
  const MlData data = load_ml_data("iris");
  for (const bool whiten : {false, true}) {
    PCA model({.whiten = whiten});
    const Tensor z = model.fit_transform(data.x);
    check_close(model.inverse_transform(z), doubles(data.x), 0, 1e-4);
    const Tensor products = matmul(z, z, true);
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 4; ++j)
        if (whiten || i != j)
          CHECK(products(i, j) == doctest::Approx(i == j ? 149 : 0).epsilon(1e-3).scale(150));
  }
}

TEST_CASE("PCA: the element with the largest magnitude of each component is positive") {
  PCA model;
  model.fit(random_tensor({200, 9}, 2));
  const Doubles rows = doubles(model.components());
  for (size_t i = 0; i < 9; ++i) {
    double largest = 0;
    for (size_t j = 0; j < 9; ++j)
      if (std::abs(rows[i * 9 + j]) > std::abs(largest)) largest = rows[i * 9 + j];
    CHECK(largest > 0);
  }
}

TEST_CASE("PCA: a large mean costs no accuracy") {
  const Tensor noise = random_tensor({300, 3}, 3);
  std::vector<float> moved = noise.to_vector();
  // Multiples of 1/256 are exact at this mean.
  for (float& value : moved) value = std::round(value * 256) / 256;
  const Tensor x = Tensor::from(std::span<const float>(moved), {300, 3}, Device::cpu());
  for (float& value : moved) value += 30000;
  const Tensor far = Tensor::from(std::span<const float>(moved), {300, 3}, Device::cpu());
  PCA near_model, far_model;
  const Tensor expected = near_model.fit_transform(x);
  check_close(far_model.fit_transform(far), doubles(expected), 0, 1e-4);
  check_close(far_model.explained_variance(), doubles(near_model.explained_variance()), 1e-5);
}

TEST_CASE("PCA: constant features, and samples that are all equal") {
  PCA model({.whiten = true});
  const Tensor z = model.fit_transform(Tensor{{1, 7}, {2, 7}, {3, 7}});
  check_close(model.explained_variance(), {1, 0}, 1e-6, 1e-12);
  check_close(z, {-1, 0, 0, 0, 1, 0}, 1e-5, 1e-6);
  PCA equal;
  const Tensor zero = equal.fit_transform(Tensor{{1, 7}, {1, 7}, {1, 7}});
  check_close(equal.explained_variance_ratio(), {0, 0}, 0);
  check_close(zero, Doubles(6), 0, 1e-6);
}

TEST_CASE("PCA: on every device") {
  const MlData data = load_ml_data("iris");
  PCA expected({.n_components = 2});
  const Tensor z = expected.fit_transform(data.x);
  for (const Device device : all_devices()) {
    for (const PcaSolver solver : {PcaSolver::full, PcaSolver::randomized}) {
      PCA model({.n_components = 2, .solver = solver, .iterated_power = 10});
      const Tensor there = model.fit_transform(data.x.to(device));
      CHECK(there.device() == device);
      CHECK(model.components().device() == device);
      check_close(there, doubles(z), 0, 1e-3);
      CHECK(model.inverse_transform(there).device() == device);
    }
  }
}

TEST_CASE("PCA: errors") {
  CHECK_THROWS_AS(PCA({.n_components = 0}), Error);
  CHECK_THROWS_AS(PCA({.n_components = 1.0}), Error);
  CHECK_THROWS_AS(PCA({.n_components = 0.0}), Error);
  CHECK_THROWS_AS(PCA({.n_components = 0.5, .solver = PcaSolver::randomized}), Error);
  CHECK_THROWS_AS(PCA({.n_oversamples = -1}), Error);
  PCA model({.n_components = 2});
  CHECK_THROWS_AS(model.transform(Tensor{{1, 2}}), Error);
  CHECK_THROWS_AS(model.components(), Error);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}}), ShapeError);
  CHECK_THROWS_WITH_AS(model.fit(Tensor{{1}, {2}}),
                       "[PCA::fit] expected n_components from 1 to 1 for x [2, 1], got 2",
                       ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}, {3, std::numeric_limits<float>::quiet_NaN()}}), Error);
  model.fit(Tensor{{1, 2}, {3, 5}});
  CHECK_THROWS_AS(model.transform(Tensor{{1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(model.inverse_transform(Tensor{{1, 2, 3}}), ShapeError);
}
