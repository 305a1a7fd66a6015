// SPDX-License-Identifier: MIT
#include "ml/decomposition/incremental_pca.h"

#include "base/error.h"
#include "ml/decomposition/pca.h"
#include "tests/support/ml_data.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::IncrementalPCA;

TEST_CASE("IncrementalPCA: the results of scikit-learn") {
  const Json reference = load_ml_reference("decomposition");
  for (const Json& item : member(reference, "incremental").items) {
    const std::string name = member(item, "data").string;
    CAPTURE(name);
    const int64_t count = integer_of(item, "count");
    IncrementalPCA model({.n_components = count, .batch_size = integer_of(item, "batch")});
    model.fit(load_ml_data(name).x);
    check_close_up_to_signs(doubles(model.components()), numbers_of(item, "components"), count,
                            1e-4);
    check_close(model.explained_variance(), numbers_of(item, "variance"), 1e-4);
    check_close(model.explained_variance_ratio(), numbers_of(item, "ratio"), 1e-4);
    check_close(model.mean(), numbers_of(item, "mean"), 1e-5, 1e-5);
  }
}

TEST_CASE("IncrementalPCA: with all components, the result of PCA") {
  const MlData data = load_ml_data("iris");
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
