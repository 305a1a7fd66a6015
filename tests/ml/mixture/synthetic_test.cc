// SPDX-License-Identifier: MIT
// Gaussian mixtures on 20 sets of different shapes, against scikit-learn.
#include "ml/mixture/gaussian_mixture.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

constexpr CovarianceType kSyntheticTypes[] = {CovarianceType::full, CovarianceType::tied,
                                              CovarianceType::diag, CovarianceType::spherical};

/// Precisions of 3 for each feature, in the shape of the type.
Tensor precisions_of_3(CovarianceType type, int64_t k, int64_t d) {
  if (type == CovarianceType::spherical) return Tensor::full({k}, 3, Device::cpu());
  if (type == CovarianceType::diag) return Tensor::full({k, d}, 3, Device::cpu());
  const int64_t matrices = type == CovarianceType::full ? k : 1;
  std::vector<double> values;
  for (int64_t at = 0; at < matrices * d * d; ++at) values.push_back(at / d % d == at % d ? 3 : 0);
  return floats(values, type == CovarianceType::full ? Shape{k, d, d} : Shape{d, d});
}

}  // namespace

TEST_CASE("GaussianMixture: 20 iterations from a given start, as scikit-learn on 20 sets") {
  const MlCases cases("synthetic_mixture.txt");
  const char* const kinds[] = {"full", "tied", "diag", "spherical"};
  for (int i = 0; i < kSyntheticSets; ++i)
    for (const CovarianceType type : kSyntheticTypes) {
      const std::string name = std::to_string(i) + "." + kinds[static_cast<size_t>(type)];
      CAPTURE(name);
      const Tensor x = synthetic_classes(i).x;
      const int64_t k = 2 + i % 4;
      GaussianMixture model(
          {.n_components = k,
           .covariance_type = type,
           .tol = 0,
           .max_iter = 20,
           .weights_init = Tensor::full({k}, 1 / static_cast<float>(k), Device::cpu()),
           .means_init = x.slice(0, 0, k),
           .precisions_init = precisions_of_3(type, k, x.dim(1))});
      model.fit(x);
      CHECK(difference(model.weights(), cases[name + ".weights"].values) < 1e-4);
      CHECK(difference(model.means(), cases[name + ".means"].values) < 1e-4);
      CHECK(difference(model.predict_proba(few(x)), cases[name + ".proba"].values) < 1e-4);
      check_score(model.score(x), cases[name + ".score"]);
    }
}

TEST_CASE("GaussianMixture: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_mixture.txt");
  SeedComparison comparison(cases);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const Tensor x = synthetic_classes(i).x;
    comparison.add(std::to_string(i), [&](uint64_t seed) {
      GaussianMixture model(
          {.n_components = 2 + i % 4, .covariance_type = kSyntheticTypes[i % 4], .seed = seed});
      model.fit(x);
      return model.score(x);
    });
  }
  comparison.check();
}
