// SPDX-License-Identifier: MIT
// Principal components and canonical correlations on 20 sets of different shapes, against
// scikit-learn.
#include "matrix/ops/copy.h"
#include "ml/decomposition/cca.h"
#include "ml/decomposition/incremental_pca.h"
#include "ml/decomposition/pca.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// stretched_of() of make_ml_synthetic_cases.py: principal components that are far apart.
Tensor synthetic_stretched(int i) {
  const Tensor x = synthetic_targets(i).x;
  std::vector<double> values;
  for (float value : x.to_vector())
    values.push_back(static_cast<double>(value) *
                     static_cast<double>(1 + static_cast<int64_t>(values.size()) % x.dim(1)));
  return floats(values, x.shape());
}

template <class Model>
void check_components(Model&& model, const Tensor& x, const MlCases& cases,
                      const std::string& name) {
  CAPTURE(name);
  model.fit(x);
  const MlCase &variance = cases[name + ".variance"], &ratio = cases[name + ".ratio"];
  check_rows_up_to_signs(model.components(), cases[name + ".components"], 1e-4);
  CHECK(difference(model.explained_variance(), variance.values) < 1e-4);
  CHECK(difference(model.explained_variance_ratio(), ratio.values) < 1e-4);
  // The mean variance of the other components. IncrementalPCA of scikit-learn has another number.
  double rest = variance.values[0] / ratio.values[0];
  for (double value : variance.values) rest -= value;
  const auto others = static_cast<double>(x.dim(1) - variance.columns);
  CHECK(difference({model.noise_variance()}, {rest / others}) < 1e-4);
}

}  // namespace

TEST_CASE("PCA and IncrementalPCA: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_decomposition.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    const Tensor x = synthetic_stretched(i);
    const int64_t k = 1 + i / 2;
    for (const PcaSolver solver : {PcaSolver::full, PcaSolver::randomized})
      check_components(PCA({.n_components = k, .solver = solver}), x, cases, name + ".full");
    check_components(IncrementalPCA({.n_components = k, .batch_size = 25 + i}), x, cases,
                     name + ".incremental");
  }
}

TEST_CASE("PCA: few random vectors explain as much variance as scikit-learn's over 20 seeds") {
  const MlCases cases("synthetic_decomposition.txt");
  SeedComparison comparison(cases, errors_below);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const Tensor x = synthetic_stretched(i);
    comparison.add(std::to_string(i), [&](uint64_t seed) {
      PCA model({.n_components = int64_t{1 + i / 2},
                 .solver = PcaSolver::randomized,
                 .iterated_power = 0,
                 .n_oversamples = 2,
                 .seed = seed});
      model.fit(x);
      double explained = 0;
      for (float ratio : model.explained_variance_ratio().to_vector())
        explained += static_cast<double>(ratio);
      return explained;
    });
  }
  comparison.check();
}

TEST_CASE("CCA: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_decomposition.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i) + ".cca.scores";
    CAPTURE(name);
    const Tensor x = synthetic_classes(i).x;
    const int64_t half = x.dim(1) / 2;
    const Tensor left = x.slice(1, 0, half), right = x.slice(1, half, x.dim(1) - half);
    CCA model({.n_components = 1});
    model.fit(left, right);
    const CCA::Scores scores = model.transform(few(left), few(right));
    const Tensor both[] = {scores.x, scores.y};
    check_rows_up_to_signs(concatenate(both, 1).transpose(), cases[name], 1e-4);
  }
}
