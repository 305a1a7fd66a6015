// SPDX-License-Identifier: MIT
// Support vector machines on 20 sets of different shapes, against scikit-learn.
#include "ml/svm/svc.h"
#include "ml/svm/svr.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("SVC and SVR: equal scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_svm.txt");
  for (int i = 0; i < kSyntheticSets; ++i)
    for (const SvmKernel kernel : {SvmKernel::rbf, SvmKernel::linear}) {
      const std::string name = kernel == SvmKernel::rbf ? "rbf" : "linear";
      const std::string svc = std::to_string(i) + ".svc." + name;
      CAPTURE(svc);
      const MlSet set = synthetic_classes(i), target = synthetic_target(i);
      SVC classifier({.c = 0.2 * (i + 1),
                      .kernel = kernel,
                      .tol = 1e-6,
                      .decision_function_shape = DecisionShape::ovo});
      classifier.fit(set.x, set.y);
      CHECK(difference(classifier.decision_function(few(set.x)), cases[svc + ".decisions"].values) <
            1e-4);
      check_score(classifier.score(set.x, set.y), cases[svc + ".score"]);
      const std::string svr = std::to_string(i) + ".svr." + name;
      SVR regressor({.c = 0.2 * (i + 1), .epsilon = 0.02 * (i + 1), .kernel = kernel, .tol = 1e-6});
      regressor.fit(target.x, target.y);
      CHECK(difference(regressor.predict(few(target.x)), cases[svr + ".predict"].values) < 1e-4);
      check_score(regressor.score(target.x, target.y), cases[svr + ".score"]);
    }
}
