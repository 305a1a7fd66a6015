// SPDX-License-Identifier: MIT
#include "ml/decomposition/incremental_pca.h"

#include "base/error.h"
#include "ml/decomposition/pca.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::IncrementalPCA;

TEST_CASE("IncrementalPCA: the results of scikit-learn") {
  const MlCases cases("decomposition.txt");
  for (const std::string name : {"iris", "digits", "cancer"}) {
    CAPTURE(name);
    const auto expected = [&](const char* what) {
      return cases["incremental." + name + "." + what];
    };
    const Doubles options = expected("options").values;
    IncrementalPCA model({.n_components = static_cast<int64_t>(options[0]),
                          .batch_size = static_cast<int64_t>(options[1])});
    model.fit(ml_set(name).x);
    check_rows_up_to_signs(model.components(), expected("components"), 1e-4);
    check_close(model.explained_variance(), expected("variance").values, 1e-4);
    check_close(model.explained_variance_ratio(), expected("ratio").values, 1e-4);
    check_close(model.mean(), expected("mean").values, 1e-5, 1e-5);
  }
}

TEST_CASE("IncrementalPCA: with all components, the result of PCA") {
  const MlSet data = ml_set("iris");
  ml::PCA whole({.whiten = true});
  const Tensor expected = whole.fit_transform(data.x);
  IncrementalPCA model({.whiten = true});
  for (int64_t begin = 0; begin < 150; begin += 30) model.partial_fit(data.x.slice(0, begin, 30));
  CHECK(model.n_samples_seen() == 150);
  check_close(model.explained_variance(), doubles(whole.explained_variance()), 1e-4);
  check_close(model.transform(data.x), doubles(expected), 0, 1e-3);
  check_close(model.inverse_transform(expected), doubles(data.x), 0, 1e-3);
  CHECK(model.noise_variance() == 0);
  model.fit(data.x);  // starts anew
  CHECK(model.n_samples_seen() == 150);
}

TEST_CASE("IncrementalPCA: errors") {
  CHECK_THROWS_AS(IncrementalPCA({.n_components = 0}), Error);
  CHECK_THROWS_AS(IncrementalPCA({.batch_size = 0}), Error);
  IncrementalPCA model({.n_components = 2});
  CHECK_THROWS_AS(model.transform(Tensor{{1, 2}}), Error);
  CHECK_THROWS_AS(model.partial_fit(Tensor{{1, 2}}), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(Tensor{{1}, {2}}), ShapeError);
  model.partial_fit(Tensor{{1, 2}, {4, 3}});
  CHECK_THROWS_AS(model.partial_fit(Tensor{{1, 2, 3}, {1, 2, 3}}), ShapeError);
}

TEST_CASE("IncrementalPCA: batches with fewer samples than features, constant columns, devices") {
  std::vector<float> values = random_tensor({24, 30}, 3).to_vector();
  for (size_t i = 0; i < 24; ++i) values[i * 30 + 7] = 4;
  const Tensor x = Tensor::from(std::span<const float>(values), {24, 30}, Device::cpu());
  for (const Device device : all_devices()) {
    IncrementalPCA model({.n_components = 8});
    for (int64_t begin = 0; begin < 24; begin += 8)
      model.partial_fit(x.slice(0, begin, 8).transpose().contiguous().transpose().to(device));
    CHECK(model.components().device() == device);
    for (const double value : doubles(model.components())) CHECK(std::isfinite(value));
    for (const double value : doubles(model.components()(All, Slice(7, 8))))
      CHECK(std::abs(value) < 1e-6);
    ml::PCA whole({.n_components = 8});
    whole.fit(x);
    CHECK(model.explained_variance_ratio()(0) ==
          doctest::Approx(whole.explained_variance_ratio()(0)).epsilon(0.2));
  }
  IncrementalPCA one({.n_components = 1});
  one.partial_fit(Tensor{{1, 2}});  // a second sample is necessary
  CHECK_THROWS_AS(one.components(), Error);
  one.partial_fit(Tensor{{3, 4}});
  check_close(one.mean(), {2, 3}, 1e-6);
  check_close(one.explained_variance(), {4}, 1e-6);
}
