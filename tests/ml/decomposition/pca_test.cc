// SPDX-License-Identifier: MIT
#include "ml/decomposition/pca.h"

#include <limits>

#include "base/error.h"
#include "matrix/ops/gemm.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::PCA;
using ml::PcaSolver;

TEST_CASE("PCA: the automatic solver is the faster one") {
  const auto depends_on_seed = [](int64_t rows, int64_t features, int64_t count) {
    const Tensor x = random_tensor({rows, features}, 1);
    std::vector<std::vector<float>> axes;
    for (const uint64_t seed : {1, 2}) {
      PCA model({.n_components = count, .seed = seed});
      model.fit(x);
      axes.push_back(model.components().to_vector());
    }
    return axes[0] != axes[1];
  };
  const Tensor x = random_tensor({2000, 30}, 1);
  PCA fast({.n_components = int64_t{5}}),
      full({.n_components = int64_t{5}, .solver = PcaSolver::full});
  fast.fit(x), full.fit(x);
  check_close(fast.explained_variance(), doubles(full.explained_variance()), 1e-5);
  CHECK(!depends_on_seed(2000, 30, 5));  // one product of 30 columns
  CHECK(depends_on_seed(600, 400, 2));   // all eigenvectors would take longer
  CHECK(!depends_on_seed(100, 400, 2));  // small
  CHECK(!depends_on_seed(40, 600, 35));  // most of the components
}

TEST_CASE("PCA: the results of scikit-learn") {
  const MlCases cases("decomposition.txt");
  for (const std::string name : {"iris", "cancer", "digits"}) {
    CAPTURE(name);
    const auto expected = [&](const char* what) { return cases["pca." + name + "." + what]; };
    const Tensor x = ml_set(name).x;
    for (const bool whiten : {false, true}) {
      PCA model({.n_components = expected("components").rows,
                 .whiten = whiten,
                 .solver = PcaSolver::full});
      model.fit(x);
      check_rows_up_to_signs(model.components(), expected("components"), 1e-4);
      check_close(model.explained_variance(), expected("variance").values, 1e-4);
      check_close(model.explained_variance_ratio(), expected("ratio").values, 1e-4);
      check_close(model.singular_values(), expected("singular").values, 1e-4);
      CHECK(model.noise_variance() == doctest::Approx(expected("noise").values[0]).epsilon(1e-4));
      const MlCase scores = expected(whiten ? "white" : "scores");
      double largest = 1;
      for (const double value : scores.values) largest = std::max(largest, std::abs(value));
      check_rows_up_to_signs(model.transform(x.slice(0, 0, 5)).transpose().contiguous(), scores,
                             1e-4 * largest);
    }
    const MlCase counts = expected("counts");
    for (int64_t i = 0; i < counts.rows; ++i) {
      PCA model({.n_components = counts.values[2 * i]});
      model.fit(x);
      CHECK(model.n_components() == static_cast<int64_t>(counts.values[2 * i + 1]));
    }
  }
}

TEST_CASE("PCA: fewer samples than features") {
  const MlCases cases("decomposition.txt");
  PCA model({.n_components = 7});
  model.fit(ml_set("digits").x.slice(0, 0, 40));
  check_rows_up_to_signs(model.components(), cases["pca.wide.components"], 1e-4);
  check_close(model.explained_variance(), cases["pca.wide.variance"].values, 1e-4);
  check_close(model.explained_variance_ratio(), cases["pca.wide.ratio"].values, 1e-4);
  CHECK(model.noise_variance() == doctest::Approx(cases.number("pca.wide.noise")).epsilon(1e-4));
}

TEST_CASE("PCA: the randomized solver finds the largest components") {
  const MlSet data = ml_set("digits");
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
  const MlSet data = ml_set("iris");
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
  const MlSet data = ml_set("iris");
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

TEST_CASE("PCA: on a device, only sums of products come to the host") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    for (const PcaSolver solver : {PcaSolver::full, PcaSolver::randomized}) {
      const auto bytes = [&](int64_t n) {
        const Tensor x = random_tensor({n, 6}, 1, device);
        PCA model({.n_components = 2, .solver = solver, .iterated_power = 3});
        const uint64_t before = transfer_count().to_host_bytes;
        model.fit(x);
        return transfer_count().to_host_bytes - before;
      };
      bytes(1000), bytes(9000);  // products of these shapes are measured once
      CHECK(bytes(1000) == bytes(9000));
    }
  });
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

TEST_CASE("PCA: x that is not contiguous") {
  const Tensor x = random_tensor({90, 7}, 5), across = x.transpose().contiguous().transpose();
  REQUIRE_FALSE(across.is_contiguous());
  for (const PcaSolver solver : {PcaSolver::full, PcaSolver::randomized}) {
    PCA expected({.n_components = 3, .solver = solver}),
        model({.n_components = 3, .solver = solver});
    const Tensor z = expected.fit_transform(x);
    check_close(model.fit_transform(across), doubles(z), 0, 1e-6);
    const Tensor z_across = z.transpose().contiguous().transpose();
    check_close(model.inverse_transform(z_across), doubles(expected.inverse_transform(z)), 0, 1e-6);
  }
}
