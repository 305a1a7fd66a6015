// SPDX-License-Identifier: MIT
#include "ml/naive_bayes/multinomial_nb.h"

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::MultinomialNB;

namespace {

Tensor labels_of(const std::vector<double>& values) {
  return integers(values, {static_cast<int64_t>(values.size())});
}

}  // namespace

TEST_CASE("MultinomialNB: the results of scikit-learn, at once and in parts, on every device") {
  const MlCases cases("naive_bayes.txt");
  for (const Device device : all_devices())
    for (const std::string name : {"iris", "cancer", "digits"}) {
      CAPTURE(name);
      const auto expected = [&](const char* what) {
        return cases[name + ".multinomial." + what].values;
      };
      const MlSet data = ml_set(name).to(device);
      MultinomialNB model({.alpha = 0.5}), parts({.alpha = 0.5});
      model.fit(data.x, data.y);
      for (int64_t begin = 0; begin < data.x.dim(0); begin += 70) {
        const int64_t rows = std::min<int64_t>(70, data.x.dim(0) - begin);
        parts.partial_fit(data.x.slice(0, begin, rows), data.y.slice(0, begin, rows),
                          begin == 0 ? model.classes() : std::vector<int32_t>{});
      }
      for (const MultinomialNB* either : {&model, &parts}) {
        check_close(either->feature_log_prob(), expected("log_prob"), 1e-5, 1e-5);
        check_close(either->class_log_prior(), expected("log_prior"), 1e-5);
        CHECK(std::abs(either->score(data.x, data.y) - expected("accuracy")[0]) <= 2e-3);
        check_close(either->predict_proba(data.x(Slice({}, {}, 25))), expected("proba"), 0, 1e-2);
      }
    }
}

TEST_CASE("MultinomialNB: smoothing, priors, and the logarithms") {
  const Tensor x{{2, 0}, {0, 1}};
  MultinomialNB model;
  model.fit(x, labels_of({9, 3}));
  check_close(model.feature_log_prob(),
              {std::log(1.0 / 3), std::log(2.0 / 3), std::log(3.0 / 4), std::log(1.0 / 4)}, 1e-5);
  check_close(model.feature_count(), {0, 1, 2, 0}, 0);
  check_close(model.class_count(), {1, 1}, 0);
  check_close(model.predict(x), {9, 3}, 0);
  const Doubles logarithms = doubles(model.predict_log_proba(x)),
                proba = doubles(model.predict_proba(x));
  for (size_t i = 0; i < 4; ++i)
    CHECK(std::exp(logarithms[i]) == doctest::Approx(proba[i]).epsilon(1e-5));
  MultinomialNB given({.class_prior = {0.9, 0.1}});
  given.fit(x, labels_of({9, 3}));
  check_close(given.class_log_prior(), {std::log(0.9), std::log(0.1)}, 1e-5);
  MultinomialNB equal({.fit_prior = false});
  equal.fit(Tensor{{2, 0}, {0, 1}, {0, 1}}, labels_of({9, 3, 3}));
  check_close(equal.class_log_prior(), {std::log(0.5), std::log(0.5)}, 1e-5);
}

TEST_CASE("MultinomialNB: errors") {
  CHECK_THROWS_AS(MultinomialNB({.alpha = 0}), Error);
  MultinomialNB model;
  const Tensor x{{1}, {2}};
  CHECK_THROWS_AS(model.predict(x), Error);
  CHECK_THROWS_AS(model.fit(Tensor{{1}, {-2}}, labels_of({1, 2})), Error);
  CHECK_THROWS_AS(model.fit(x, labels_of({1})), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 2})), ShapeError);
  CHECK_THROWS_AS(MultinomialNB({.class_prior = {1}}).fit(x, labels_of({1, 2})), Error);
  model.fit(x, labels_of({1, 1}));  // one class is always predicted
  check_close(model.predict(x), {1, 1}, 0);
  CHECK_THROWS_AS(model.partial_fit(x, labels_of({1, 3})), ShapeError);
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2}}), ShapeError);
}
