// SPDX-License-Identifier: MIT
#include "ml/svm/svc.h"

#include <limits>
#include <set>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"
#include "tests/ml/svm/kernels.h"
#include "tests/support/devices.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

const std::vector<std::string>& set_names() {
  static const std::vector<std::string> names{"iris", "digits", "cancer", "blobs", "pairs"};
  return names;
}

void check_case(const MlSet& set, const MlCases& cases, const std::string& key,
                SVCOptions options) {
  CAPTURE(key);
  options.decision_function_shape = DecisionShape::ovo;
  SVC model(options);
  model.fit(set.x, set.y);
  CHECK(model.converged());
  CHECK(difference(model.decision_function(some_samples(set.x)), cases[key + ".ovo"].values) <
        1e-4);
  // Here the kernel has values up to 710. Their rounding to f32, times the coefficients, is 2e-4.
  const double intercept_error = key == "iris.poly" ? 3e-4 : 1e-4;
  CHECK(difference(model.intercept(), cases[key + ".b"].values) < intercept_error);
  CHECK(model.score(set.x, set.y) == doctest::Approx(cases[key + ".score"].values[0]));
  const MlCase& counts = cases[key + ".n"];
  for (size_t c = 0; c < counts.values.size(); ++c)
    CHECK(std::abs(static_cast<double>(model.n_support()[c]) - counts.values[c]) <= 1);
  // The sums of |coefficients| of each row of the dual coefficients.
  std::vector<double> sums;
  const Tensor& dual = model.dual_coefficients();
  for (int64_t i = 0; i < dual.dim(0); ++i) {
    sums.push_back(0);
    for (int64_t j = 0; j < dual.dim(1); ++j) sums.back() += std::abs(dual(i, j));
  }
  CHECK(difference(sums, cases[key + ".sum"].values) < 1e-4);
}

}  // namespace

TEST_CASE("SVC: equals scikit-learn's within 1e-4, for two and more classes and each kernel") {
  const MlCases cases("svm.txt");
  for (const std::string& name : set_names()) {
    const MlSet set = labeled_set(name);
    for (const std::string& kernel : kernel_names())
      check_case(set, cases, name + "." + kernel, kernel_case<SVCOptions>(kernel));
  }
}

TEST_CASE("SVC: scores of classes, predictions and support vectors equal scikit-learn's") {
  const MlCases cases("svm.txt");
  for (const std::string& name : set_names()) {
    CAPTURE(name);
    const MlSet set = labeled_set(name);
    SVC model({.tol = 1e-6});
    model.fit(set.x, set.y);
    const Tensor scores = model.decision_function(some_samples(set.x));
    CHECK(difference(scores, cases[name + ".ovr"].values) < 1e-4);
    CHECK(scores.rank() == (model.classes().size() == 2 ? 1 : 2));
    CHECK(difference(cast(model.predict(set.x), DType::f32), cases[name + ".predict"].values) == 0);
    // Samples whose coefficient is nearly 0 may differ.
    const std::vector<double>& expected = cases[name + ".support"].values;
    std::set<int32_t> known(expected.begin(), expected.end());
    int64_t different = 0;
    for (int32_t sample : model.support()) different += known.erase(sample) == 0;
    CHECK(different + static_cast<int64_t>(known.size()) <= 1);
    CHECK(model.support_vectors().dim(0) == static_cast<int64_t>(model.support().size()));
    const std::vector<float> rows = model.support_vectors().to_vector();
    const int64_t d = set.x.dim(1);
    for (size_t i = 0; i < model.support().size(); i += 7)
      CHECK(static_cast<double>(rows[i * d + 1]) == set.x(model.support()[i], 1));
  }
}

TEST_CASE("SVC: balanced weights of classes, and weights by label") {
  const MlCases cases("svm.txt");
  for (const std::string& name : set_names()) {
    CAPTURE(name);
    const MlSet set = labeled_set(name);
    std::vector<int32_t> rare = set.y.to_vector<int32_t>();
    for (size_t i = 0; i < rare.size(); ++i)
      if (i % 5 != 0) rare[i] = rare[0];
    const Tensor y = Tensor::from(std::span<const int32_t>(rare), set.y.shape(), Device::cpu());
    SVCOptions options;
    options.tol = 1e-6;
    options.decision_function_shape = DecisionShape::ovo;
    options.class_weight.balanced = true;
    SVC model(options);
    model.fit(set.x, y);
    CHECK(difference(model.decision_function(some_samples(set.x)),
                     cases[name + ".balanced.ovo"].values) < 1e-4);
    CHECK(model.score(set.x, y) == doctest::Approx(cases[name + ".balanced.score"].values[0]));
  }
  const MlSet set = labeled_set("pairs");
  SVCOptions weights, twice;
  weights.class_weight.values = {{0, 2}, {1, 2}};
  twice.c = 2;
  SVC a(weights), b(twice);
  a.fit(set.x, set.y);
  b.fit(set.x, set.y);
  CHECK(a.dual_coefficients().to_vector() == b.dual_coefficients().to_vector());
}

TEST_CASE("SVC: on every device, with any labels and strided samples") {
  for_each_device([&](Device device) {
    for (const std::string name : {"blobs", "pairs"}) {
      const MlSet set = labeled_set(name);
      SVC expected({.tol = 1e-6});
      expected.fit(set.x, set.y);
      std::vector<int32_t> labels = set.y.to_vector<int32_t>();
      for (int32_t& label : labels) label = 10 * label - 7;
      const Tensor y = Tensor::from(std::span<const int32_t>(labels), set.y.shape(), device);
      const Tensor columns = set.x.transpose().contiguous().to(device);
      SVC model({.tol = 1e-6});
      model.fit(columns.transpose(), y);
      CHECK(model.classes()[0] == -7);
      CHECK(model.classes()[1] == 3);
      const std::vector<float> values = expected.decision_function(set.x).to_vector();
      const Tensor decisions = model.decision_function(columns.transpose());
      CHECK(decisions.device() == device);
      CHECK(difference(decisions, std::vector<double>(values.begin(), values.end())) < 1e-4);
      CHECK(model.predict(columns.transpose()).device() == device);
      CHECK(model.score(columns.transpose(), y) == expected.score(set.x, set.y));
      // A model predicts on the device of x.
      CHECK(model.score(set.x, y.to(Device::cpu())) == expected.score(set.x, set.y));
    }
  });
}

TEST_CASE("SVC: the same result for any number of threads and any size of the cache") {
  const MlSet set = labeled_set("digits");
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    SVC model;
    model.fit(set.x, set.y);
    const std::vector<float> values = model.decision_function(set.x).to_vector();
    if (first.empty()) first = values;
    CHECK(values == first);
  }
  set_thread_count(0);
  SVC small({.tol = 1e-6, .cache_size = 0.01}), large({.tol = 1e-6});
  small.fit(set.x, set.y);
  large.fit(set.x, set.y);
  const std::vector<float> expected = large.decision_function(set.x).to_vector();
  CHECK(difference(small.decision_function(set.x),
                   std::vector<double>(expected.begin(), expected.end())) < 1e-4);
}

TEST_CASE("SVC: two samples, and equal samples with different labels") {
  SVC two({.c = 10, .kernel = SvmKernel::linear});
  two.fit(floats({-1, 3}, {2, 1}), integers({4, 9}, {2}));
  // The hyperplane is in the middle, with decisions -1 and 1 at the samples.
  CHECK(difference(two.decision_function(floats({-1, 1, 3}, {3, 1})), {-1, 0, 1}) < 1e-4);
  CHECK(two.predict(floats({-5, 5}, {2, 1})).to_vector<int32_t>() == std::vector<int32_t>{4, 9});

  for (const SvmKernel kernel : {SvmKernel::linear, SvmKernel::poly, SvmKernel::rbf}) {
    SVC same({.c = 3, .kernel = kernel});
    same.fit(Tensor{{1, 2}, {1, 2}, {1, 2}}, integers({0, 1, 1}, {3}));
    CHECK(same.converged());
    // There is no better function than the constant of the majority.
    CHECK(same.predict(Tensor{{1, 2}, {7, 8}}).to_vector<int32_t>() == std::vector<int32_t>{1, 1});
    CHECK(difference(same.decision_function(Tensor{{1, 2}}), {1}) < 1e-3);
  }
  // Some samples occur with both labels. Their coefficients are at the limit.
  SVC some({.c = 2});
  some.fit(floats({0, 0, 1, 5, 6}, {5, 1}), integers({0, 1, 0, 1, 1}, {5}));
  CHECK(some.converged());
  CHECK(some.score(floats({1, 5, 6}, {3, 1}), integers({0, 1, 1}, {3})) == 1);
}

TEST_CASE("SVC: a tiny and a huge limit") {
  const MlSet set = labeled_set("pairs");
  SVC tiny({.c = 1e-9});
  tiny.fit(set.x, set.y);
  CHECK(tiny.support().size() == 90);  // all coefficients are at the limit
  for (float value : tiny.decision_function(set.x).to_vector()) CHECK(std::abs(value) <= 1.01f);
  // Without noise, a huge limit is a hard margin: no sample is inside it.
  const MlSet iris = ml_set("iris");
  const Tensor x = iris.x.slice(0, 0, 100), y = iris.y.slice(0, 0, 100);
  SVC huge({.c = 1e9, .kernel = SvmKernel::linear}), large({.c = 1e3, .kernel = SvmKernel::linear});
  huge.fit(x, y);
  large.fit(x, y);
  CHECK(huge.converged());
  CHECK(huge.score(x, y) == 1);
  const std::vector<float> margins = huge.decision_function(x).to_vector();
  for (float value : margins) CHECK(std::abs(value) > 0.998f);
  CHECK(difference(large.decision_function(x),
                   std::vector<double>(margins.begin(), margins.end())) < 1e-4);
}

TEST_CASE("Tempura's fault: an option had no effect unless another one was given") {
  const MlSet set = labeled_set("pairs");
  SVC usual, strong({.c = 100}), narrow({.gamma = 5.0}), rough({.tol = 0.5});
  for (SVC* model : {&usual, &strong, &narrow, &rough}) model->fit(set.x, set.y);
  CHECK(max(strong.dual_coefficients()).item() > 1);
  CHECK(narrow.gamma() == 5);
  CHECK(narrow.support().size() != usual.support().size());
  CHECK(rough.iterations() < usual.iterations());
}

TEST_CASE("SVC: after many iterations, all samples meet the conditions of the optimum") {
  const MlSet set = labeled_set("cancer");
  const double c = 100;
  SVC model({.c = c, .kernel = SvmKernel::linear, .tol = 1e-5});
  model.fit(set.x, set.y);
  CHECK(model.converged());
  CHECK(model.iterations() > 5000);  // enough to set variables aside
  std::vector<double> alpha(static_cast<size_t>(set.x.dim(0)));
  for (size_t i = 0; i < model.support().size(); ++i)
    alpha[model.support()[i]] = std::abs(model.dual_coefficients()(0, static_cast<int64_t>(i)));
  const std::vector<float> decisions = model.decision_function(set.x).to_vector();
  const std::vector<int32_t> labels = set.y.to_vector<int32_t>();
  for (size_t i = 0; i < alpha.size(); ++i) {
    const double margin = static_cast<double>(decisions[i]) * (labels[i] == 1 ? 1 : -1);
    if (alpha[i] < c) CHECK(margin > 0.998);
    if (alpha[i] > 0) CHECK(margin < 1.002);
  }
}

TEST_CASE("SVC: max_iter, and constant samples") {
  const MlSet set = labeled_set("pairs");
  SVC model({.max_iter = 3});
  model.fit(set.x, set.y);
  CHECK_FALSE(model.converged());
  CHECK(model.iterations() == 3);
  SVC none({.tol = 5});  // the first gradient is within the tolerance
  none.fit(set.x, set.y);
  CHECK(none.support().empty());
  CHECK(difference(none.decision_function(set.x.slice(0, 0, 2)), {0, 0}) == 0);
}

TEST_CASE("SVC: errors") {
  const Tensor x = floats({1, 2, 3}, {3, 1}), y = integers({0, 1, 1}, {3});
  SVC model;
  CHECK_THROWS_WITH_AS(model.fit(x, integers({4, 4, 4}, {3})),
                       "[SVC] expected at least two classes, got 1", ShapeError);
  CHECK_THROWS_WITH_AS(model.predict(x), "[SVC] expected a fitted model, call fit() first",
                       ShapeError);
  CHECK_THROWS_AS(model.decision_function(x), ShapeError);
  CHECK_THROWS_AS(model.fit(x, floats({0, 1, 1}, {3})), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({0, 1}, {2})), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({1, 2, 3}, {3}), y), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({}, {0, 1}), integers({}, {0})), ShapeError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(model.fit(floats({1, nan, 3}, {3, 1}), y), ShapeError);
  CHECK_THROWS_AS(model.fit(floats({1, infinity, 3}, {3, 1}), y), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_AS(model.predict(floats({1, nan}, {2, 1})), ShapeError);
  CHECK_THROWS_AS(model.predict(floats({1, 2}, {1, 2})), ShapeError);
  CHECK_THROWS_AS(model.predict(floats({1, 2}, {2})), ShapeError);
  for (const SVCOptions& options :
       {SVCOptions{.c = 0}, SVCOptions{.c = infinity}, SVCOptions{.c = nan},
        SVCOptions{.degree = -1}, SVCOptions{.gamma = -1.0}, SVCOptions{.gamma = nan},
        SVCOptions{.coef0 = nan}, SVCOptions{.tol = 0}, SVCOptions{.cache_size = 0},
        SVCOptions{.max_iter = -2}})
    CHECK_THROWS_AS(SVC{options}, ShapeError);
  SVCOptions options;
  options.class_weight.values = {{1, 0}};
  CHECK_THROWS_WITH_AS(SVC(options).fit(x, y), "[SVC] expected class weights above 0, got 0",
                       ShapeError);
  options.class_weight.values = {{5, 1}};
  CHECK_THROWS_AS(SVC(options).fit(x, y), ShapeError);
}
