// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "matrix/threads.h"
#include "ml/preprocessing/min_max_scaler.h"
#include "ml/preprocessing/standard_scaler.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("scalers: equal scikit-learn's on every device, also with constant features") {
  const MlCases cases("preprocessing.txt");
  for_each_device([&](Device device) {
    for (const std::string name : {"iris", "digits", "cancer"}) {
      CAPTURE(name);
      const Tensor x = ml_set(name).x.to(device);
      StandardScaler standard;
      standard.fit(x);
      CHECK(difference(standard.mean(), cases[name + ".mean"].values) < 1e-6);
      CHECK(difference(standard.scale(), cases[name + ".scale"].values) < 1e-6);
      const Tensor scaled = standard.transform(x.slice(0, 0, 5));
      CHECK(scaled.device() == device);
      CHECK(difference(scaled, cases[name + ".standard"].values) < 1e-5);
      const Tensor back = standard.inverse_transform(scaled);
      const std::vector<float> first = x.slice(0, 0, 5).to_vector();
      CHECK(difference(back, std::vector<double>(first.begin(), first.end())) < 1e-6);
      MinMaxScaler range({.low = -1, .high = 2});
      range.fit(x);
      const Tensor last = range.transform(x.slice(0, x.dim(0) - 5, 5));
      CHECK(difference(last, cases[name + ".min_max"].values) < 1e-6);
    }
  });
}

TEST_CASE("scalers: partial_fit of parts equals fit, and threads do not change a bit") {
  const Tensor x = regression_set(5000, 3, 1, 4).x;
  StandardScaler all, parts;
  MinMaxScaler range, range_parts;
  all.fit(x);
  range.fit(x);
  set_thread_count(3);
  StandardScaler again;
  again.fit(x);
  set_thread_count(0);
  CHECK(again.mean() == all.mean());
  CHECK(again.variance() == all.variance());
  for (int64_t begin : {0, 1000, 2000, 3000, 4000}) {
    parts.partial_fit(x.slice(0, begin, 1000));
    range_parts.partial_fit(x.slice(0, begin, 1000));
  }
  CHECK(parts.samples_seen() == 5000);
  CHECK(difference(parts.mean(), all.mean()) < 1e-12);
  CHECK(difference(parts.variance(), all.variance()) < 1e-12);
  CHECK(range_parts.data_max() == range.data_max());
  std::vector<double> least(3, std::numeric_limits<double>::infinity());
  const std::vector<float> values = x.to_vector();
  for (size_t i = 0; i < values.size(); ++i)
    least[i % 3] = std::min<double>(least[i % 3], values[i]);
  CHECK(range.data_min() == least);
  CHECK(range_parts.data_min() == least);
}

TEST_CASE("Tempura's fault: a constant column gave NaN") {
  const Tensor x = floats({1, 0.1, 2, 0.1, 3, 0.1}, {3, 2});
  CHECK(StandardScaler().fit_transform(x)(1, 1) == 0);
  CHECK(MinMaxScaler().fit_transform(x)(1, 1) == 0);
}

TEST_CASE("StandardScaler: features of small variance and a large mean") {
  const Tensor x = floats({16777214, 16777215, 16777216}, {3, 1});
  CHECK(difference(StandardScaler().fit_transform(x), {-std::sqrt(1.5), 0, std::sqrt(1.5)}) < 1e-6);
}

TEST_CASE("scalers: options and errors") {
  const Tensor x = floats({1, 2, 3, 4}, {2, 2});
  StandardScaler shift({.with_std = false}), stretch({.with_mean = false});
  CHECK(shift.fit_transform(x).to_vector() == std::vector<float>{-1, -1, 1, 1});
  CHECK(stretch.fit_transform(x).to_vector() == std::vector<float>{1, 2, 3, 4});
  MinMaxScaler clip({.clip = true});
  clip.fit(x);
  CHECK(clip.transform(floats({0, 9}, {1, 2})).to_vector() == std::vector<float>{0, 1});
  CHECK_THROWS_AS(MinMaxScaler({.low = 1, .high = 1}), ShapeError);
  CHECK_THROWS_WITH_AS(StandardScaler().transform(x),
                       "[StandardScaler.transform] expected a fitted model, call fit() first",
                       ShapeError);
  CHECK_THROWS_AS(clip.transform(floats({1, 2, 3}, {1, 3})), ShapeError);
  CHECK_THROWS_AS(shift.fit(floats({}, {0, 2})), ShapeError);
  CHECK_THROWS_AS(shift.fit(floats({1, 2}, {2})), ShapeError);
  for (double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(shift.fit(floats({1, bad}, {2, 1})), ShapeError);
}
