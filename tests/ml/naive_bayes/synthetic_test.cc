// SPDX-License-Identifier: MIT
// Naive Bayes on 20 sets of different shapes, against scikit-learn.
#include "ml/naive_bayes/gaussian_nb.h"
#include "ml/naive_bayes/multinomial_nb.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

template <class Model>
void check_probabilities(Model&& model, const MlSet& set, const MlCases& cases,
                         const std::string& name) {
  CAPTURE(name);
  model.fit(set.x, set.y);
  CHECK(difference(model.predict_proba(few(set.x)), cases[name + ".proba"].values) < 1e-4);
  check_score(model.score(set.x, set.y), cases[name + ".score"]);
}

}  // namespace

TEST_CASE("GaussianNB and MultinomialNB: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_naive_bayes.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    check_probabilities(GaussianNB(), synthetic_classes(i), cases, name + ".gaussian");
    check_probabilities(MultinomialNB({.alpha = 0.1 * (i + 1)}), synthetic_counts(i), cases,
                        name + ".multinomial");
  }
}
