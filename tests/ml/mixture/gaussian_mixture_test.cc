// SPDX-License-Identifier: MIT
#include "ml/mixture/gaussian_mixture.h"

#include <limits>
#include <numbers>

#include "base/error.h"
#include "matrix/linalg/lu.h"
#include "matrix/linalg/solve.h"
#include "matrix/ops/elementwise.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"
#include "tests/support/seeds.h"
#include "tests/support/slow.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::CovarianceType;
using ml::GaussianMixture;

namespace {

constexpr CovarianceType kTypes[] = {CovarianceType::full, CovarianceType::tied,
                                     CovarianceType::diag, CovarianceType::spherical};

/// quarters() of make_ml_mixture_cases.py: the sums of the pixels of each quarter of an image.
Tensor quarters(const Tensor& x) {
  const std::vector<float> pixels = x.to_vector();
  std::vector<double> sums(static_cast<size_t>(x.dim(0) * 4));
  for (size_t at = 0; at < pixels.size(); ++at) {
    const size_t row = at / 8 % 8, column = at % 8;
    sums[at / 64 * 4 + row / 4 * 2 + column / 4] += static_cast<double>(pixels[at]);
  }
  return floats(sums, {x.dim(0), 4});
}

/// The sets of mixture.txt: the samples, and the number of components.
struct MixtureSet {
  std::string name;
  int64_t k;
  Tensor x;
};

std::vector<MixtureSet> mixture_sets() {
  return {{"iris", 3, ml_set("iris").x},
          {"cancer", 2, ml_set("cancer").x.slice(1, 0, 2).contiguous()},
          {"digits", 10, quarters(ml_set("digits").x)}};
}

/// Calls body(name of the case, set, type) for each set and type.
template <class Body>
void for_each_case(const std::vector<MixtureSet>& sets, const Body& body) {
  const char* const kinds[] = {"full", "tied", "diag", "spherical"};
  for (const MixtureSet& set : sets)
    for (const CovarianceType type : kTypes)
      body(set.name + "." + kinds[static_cast<size_t>(type)], set, type);
}

Shape covariance_shape(CovarianceType type, int64_t k, int64_t d) {
  if (type == CovarianceType::full) return {k, d, d};
  if (type == CovarianceType::tied) return {d, d};
  return type == CovarianceType::diag ? Shape{k, d} : Shape{k};
}

/// The log density of one sample, from det() and inv() in f64.
double plain_log_density(const GaussianMixture& model, CovarianceType type, const Doubles& x) {
  const auto d = static_cast<int64_t>(x.size());
  const Doubles weights = doubles(model.weights()), means = doubles(model.means()),
                covariances = doubles(model.covariances());
  double density = 0;
  for (size_t k = 0; k < weights.size(); ++k) {
    std::vector<double> matrix(static_cast<size_t>(d * d));
    for (int64_t i = 0; i < d; ++i)
      for (int64_t j = 0; j < d; ++j) {
        const auto at = static_cast<int64_t>(k);
        double value = i == j ? 1 : 0;
        if (type == CovarianceType::full) value = covariances[(at * d + i) * d + j];
        if (type == CovarianceType::tied) value = covariances[i * d + j];
        if (type == CovarianceType::diag) value *= covariances[at * d + i];
        if (type == CovarianceType::spherical) value *= covariances[k];
        matrix[i * d + j] = value;
      }
    const Tensor covariance = Tensor::from(std::span<const double>(matrix), {d, d}, Device::cpu());
    const Doubles inverse = doubles(inv(covariance));
    double square = 0;
    for (int64_t i = 0; i < d; ++i)
      for (int64_t j = 0; j < d; ++j)
        square += (x[i] - means[k * d + i]) * inverse[i * d + j] * (x[j] - means[k * d + j]);
    density += weights[k] * std::exp(-square / 2) /
               std::sqrt(std::pow(2 * std::numbers::pi, static_cast<double>(d)) *
                         det(covariance).item<double>());
  }
  return std::log(density);
}

}  // namespace

TEST_CASE("GaussianMixture: from a given start, the result of scikit-learn") {
  const MlCases cases("mixture.txt");
  for_each_case(
      mixture_sets(), [&](const std::string& name, const MixtureSet& set, CovarianceType type) {
        CAPTURE(name);
        const auto expected = [&](const char* what) { return cases[name + "." + what].values; };
        const Tensor& x = set.x;
        const int64_t k = set.k, d = x.dim(1);
        GaussianMixture model(
            {.n_components = k,
             .covariance_type = type,
             .tol = 1e-4,
             .max_iter = 300,
             .weights_init = floats(expected("weights_init"), {k}),
             .means_init = floats(expected("means_init"), {k, d}),
             .precisions_init = floats(expected("precisions_init"), covariance_shape(type, k, d))});
        model.fit(x);
        CHECK(model.converged());
        // The stop may differ by a few iterations, because each of the last ones gains about 1e-4.
        CHECK(std::abs(model.n_iter() - cases.number(name + ".n_iter")) <= 3);
        CHECK(std::abs(model.score(x) - expected("score")[0]) < 3e-4);
        CHECK(model.bic(x) == doctest::Approx(expected("bic")[0]).epsilon(1e-3));
        CHECK(model.aic(x) == doctest::Approx(expected("aic")[0]).epsilon(1e-3));
        check_close(model.weights(), expected("weights"), 0, 0.01);
        check_close(model.means(), expected("means"), 0.02, 0.02);
        const Tensor proba = model.predict_proba(x(Slice({}, {}, set.name == "digits" ? 100 : 10)));
        check_close(proba, expected("proba"), 0, 0.03);
        if (model.n_iter() == cases.number(name + ".n_iter")) {
          check_close(model.weights(), expected("weights"), 0, 1e-3);
          check_close(model.covariances(), expected("covariances"), 5e-3, 1e-3);
        }
      });
}

TEST_CASE("GaussianMixture: from k-means, as good as scikit-learn over 20 seeds") {
  const MlCases cases("mixture.txt");
  double worse = 0;
  int count = 0;
  const auto compare = [&](const std::string& name, const MixtureSet& set, CovarianceType type) {
    CAPTURE(name);
    Doubles scores;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      GaussianMixture model({.n_components = set.k, .covariance_type = type, .seed = seed});
      model.fit(set.x);
      scores.push_back(model.score(set.x));
    }
    const double errors = errors_below(scores, cases[name + ".scores"].values, 1e-4);
    CAPTURE(errors);
    CHECK(errors < kMostErrors);
    worse += errors;
    ++count;
  };
  for_each_case(mixture_sets(), compare);
  // Some pixels are constant in a component. Only reg_covar makes its covariance positive definite.
  // In a slow build this takes two minutes, and synthetic_test.cc runs the same code.
  if (!KAISEKI_SLOW)
    compare("pixels.full", {"pixels", 10, ml_set("digits").x}, CovarianceType::full);
  CHECK(worse / count <= 1);
}

TEST_CASE("GaussianMixture: a covariance that is nearly singular, on every device") {
  // The second feature is the first one and a little noise.
  const Doubles numbers = lcg_numbers(2 * 2000, 1);
  Doubles values;
  for (size_t i = 0; i < numbers.size(); i += 2) {
    values.push_back(30 * numbers[i]);
    values.push_back(30 * numbers[i] + 1e-3 * numbers[i + 1]);
  }
  const Tensor x = floats(values, {2000, 2});
  // The likelihood of one component, in double. The rounding to f32 is part of the samples.
  values = doubles(x);
  double mean[2] = {}, a = 0, b = 0, c = 0;
  for (size_t i = 0; i < values.size(); ++i) mean[i % 2] += values[i] / 2000;
  for (size_t i = 0; i < values.size(); i += 2) {
    const double first = values[i] - mean[0], second = values[i + 1] - mean[1];
    a += first * first / 2000, b += first * second / 2000, c += second * second / 2000;
  }
  const double reg = 1e-6, p = a + reg, q = c + reg, determinant = p * q - b * b;
  const double trace = (q * a - 2 * b * b + p * c) / determinant;
  const double expected =
      -0.5 * (2 * std::log(2 * std::numbers::pi) + std::log(determinant) + trace);
  for (const Device device : all_devices()) {
    GaussianMixture model;
    model.fit(x.to(device));
    CHECK(model.score(x.to(device)) == doctest::Approx(expected).epsilon(1e-3));
  }
}

TEST_CASE("GaussianMixture: the density in 1, 2, 3 and 5 dimensions, wrong in the original but 2") {
  for (const CovarianceType type : kTypes)
    for (const int64_t d : {1, 2, 3, 5}) {
      CAPTURE(d);
      const Tensor x = random_tensor({200, d}, static_cast<uint64_t>(d), Device::cpu(), -2, 2);
      GaussianMixture model({.n_components = 2, .covariance_type = type, .max_iter = 5});
      model.fit(x);
      CHECK(model.covariances().shape() == covariance_shape(type, 2, d));
      const Doubles scores = doubles(model.score_samples(x)), values = doubles(x);
      for (int64_t i = 0; i < 200; i += 13) {
        const Doubles sample(values.begin() + i * d, values.begin() + (i + 1) * d);
        CHECK(scores[i] == doctest::Approx(plain_log_density(model, type, sample)).epsilon(1e-4));
      }
    }
}

TEST_CASE("GaussianMixture: predict and predict_proba, which the original lacks") {
  const Tensor x = noisy_centers({{0, 0}, {8, 0}, {0, 8}}, 300, 1, 1);
  for (const CovarianceType type : kTypes) {
    GaussianMixture model({.n_components = 3, .covariance_type = type});
    model.fit(x);
    const std::vector<int32_t> labels = model.predict(x).to_vector<int32_t>();
    int64_t wrong = 0;
    for (size_t i = 3; i < labels.size(); ++i) wrong += labels[i] != labels[i % 3];
    CHECK(wrong <= 2);
    const Doubles proba = doubles(model.predict_proba(x));
    for (size_t i = 0; i < 300; ++i) {
      CHECK(proba[3 * i] + proba[3 * i + 1] + proba[3 * i + 2] == doctest::Approx(1).epsilon(1e-5));
      CHECK(proba[3 * i + static_cast<size_t>(labels[i])] >= 1.0 / 3);
    }
    CHECK(model.score(x) == doctest::Approx(model.lower_bound()).epsilon(0.01));
    CHECK(model.bic(x) > model.aic(x));
  }
}

TEST_CASE("GaussianMixture: n_init keeps the best of the starts with seed, seed + 1, ...") {
  const Tensor x =
      noisy_centers({{0, 0}, {5, 0}, {0, 5}, {5, 5}, {10, 0}, {10, 5}, {20, 2}}, 210, 0.5f, 4);
  const auto fitted = [&](int64_t starts, uint64_t seed) {
    GaussianMixture model({.n_components = 7,
                           .n_init = starts,
                           .init_params = ml::MixtureInit::random,
                           .seed = seed});
    model.fit(x);
    return model;
  };
  constexpr int64_t kStarts = 8;
  std::vector<GaussianMixture> one;
  for (uint64_t seed = 0; seed < kStarts; ++seed) one.push_back(fitted(1, seed));
  int64_t best = 0;
  for (int64_t starts = 1; starts <= kStarts; ++starts) {
    CAPTURE(starts);
    if (one[starts - 1].lower_bound() > one[best].lower_bound()) best = starts - 1;
    const GaussianMixture model = fitted(starts, 0);
    CHECK(model.lower_bound() == one[best].lower_bound());
    CHECK(model.n_iter() == one[best].n_iter());
    CHECK(model.converged() == one[best].converged());
    check_close(model.weights(), doubles(one[best].weights()), 0);
    check_close(model.means(), doubles(one[best].means()), 0);
    check_close(model.covariances(), doubles(one[best].covariances()), 0);
    CHECK(model.score(x) == one[best].score(x));
  }
  // The first start finds a worse mixture, and so does the last one.
  CHECK(one[best].lower_bound() > one.front().lower_bound() + 0.1);
  CHECK(one[best].lower_bound() > one.back().lower_bound() + 0.1);
}

TEST_CASE("GaussianMixture: a large mean") {
  const Tensor x = noisy_centers({{10000, 0}, {10004, 0}}, 400, 0.5f, 2);
  GaussianMixture model({.n_components = 2});
  model.fit(x);
  check_close(model.weights(), {0.5, 0.5}, 0, 0.01);
  for (const double value : doubles(model.covariances())) CHECK(std::abs(value) < 0.4);
}

TEST_CASE("GaussianMixture: samples have the means and covariances of the mixture") {
  for (const CovarianceType type : kTypes) {
    GaussianMixture model({.n_components = 2, .covariance_type = type});
    model.fit(noisy_centers({{0, 0}, {30, 10}}, 200, 2, 3));
    const GaussianMixture::Sample drawn = model.sample(4000, 5);
    CHECK(drawn.x.shape() == Shape{4000, 2});
    check_close(model.predict(drawn.x), doubles(drawn.components), 0);
    GaussianMixture again({.n_components = 2, .covariance_type = type});
    again.fit(drawn.x);
    CHECK(again.score(drawn.x) == doctest::Approx(model.score(drawn.x)).epsilon(0.01));
    check_close(model.sample(4000, 5).x, doubles(drawn.x), 0);
  }
}

TEST_CASE("GaussianMixture: any number of threads, any device") {
  const Tensor x = random_tensor({900, 4}, 4);
  for (const CovarianceType type : kTypes) {
    GaussianMixture first({.n_components = 3, .covariance_type = type}),
        second({.n_components = 3, .covariance_type = type});
    first.fit(x);
    set_thread_count(3);
    second.fit(x);
    set_thread_count(0);
    check_close(second.means(), doubles(first.means()), 0);
    for (const Device device : all_devices()) {
      GaussianMixture there({.n_components = 3, .covariance_type = type});
      there.fit(x.to(device));
      CHECK(there.score(x.to(device)) == doctest::Approx(first.score(x)).epsilon(1e-2));
      CHECK(there.predict(x.to(device)).device() == device);
    }
  }
}

TEST_CASE("GaussianMixture: on a device, the transfers of an iteration do not grow with n") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    for (const CovarianceType type : {CovarianceType::full, CovarianceType::tied,
                                      CovarianceType::diag, CovarianceType::spherical}) {
      const auto bytes = [&](int64_t n, int64_t iterations) {
        const Tensor x = random_tensor({n, 4}, 1, device);
        GaussianMixture model(
            {.n_components = 3, .covariance_type = type, .tol = 0, .max_iter = iterations});
        const uint64_t before = transfer_count().to_host_bytes;
        model.fit(x);
        return transfer_count().to_host_bytes - before;
      };
      for (const int64_t n : {1000, 9000}) {
        bytes(n, 2);  // products of these shapes are measured once
        const uint64_t one = bytes(n, 3) - bytes(n, 2);
        CHECK(one > 0);
        // Weights, first and second sums of 3 components, and at most 64 likelihoods.
        CHECK(one <= (3 + 3 * 4 + 3 * 16 + 64) * sizeof(float));
      }
    }
  });
}

TEST_CASE("GaussianMixture: equal samples") {
  GaussianMixture model({.n_components = 2});
  model.fit(Tensor::full({10, 3}, 4, Device::cpu()));
  CHECK(std::isfinite(model.score(Tensor::full({10, 3}, 4, Device::cpu()))));
  CHECK_THROWS_AS(GaussianMixture({.n_components = 2, .reg_covar = 0})
                      .fit(Tensor::full({10, 3}, 4, Device::cpu())),
                  Error);
}

TEST_CASE("GaussianMixture: errors") {
  CHECK_THROWS_AS(GaussianMixture({.n_components = 0}), Error);
  CHECK_THROWS_AS(GaussianMixture({.tol = -1}), Error);
  CHECK_THROWS_AS(GaussianMixture({.reg_covar = -1}), Error);
  CHECK_THROWS_AS(GaussianMixture({.n_init = 0}), Error);
  GaussianMixture model({.n_components = 2});
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2}}), Error);
  CHECK_THROWS_AS(model.means(), Error);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}}), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor{{1}, {std::numeric_limits<float>::quiet_NaN()}}), Error);
  CHECK_THROWS_AS(GaussianMixture({.n_components = 2, .means_init = Tensor{{1, 2}}})
                      .fit(Tensor{{1, 2}, {3, 4}}),
                  ShapeError);
  model.fit(Tensor{{1, 2}, {3, 4}, {1, 2.5f}, {3, 4.5f}});
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(model.sample(0), Error);
}

TEST_CASE("GaussianMixture: samples that are too large for f32 are an error with the cause") {
  Tensor x = noisy_centers({{0, 7}, {9, 7}}, 90, 0.5f, 8);
  x = elementwise("x * s", {{"x", x}, {"s", 1e20f}});
  for (const CovarianceType type : kTypes)
    for (const ml::MixtureInit init : {ml::MixtureInit::kmeans, ml::MixtureInit::random}) {
      CAPTURE(static_cast<int>(type));
      GaussianMixture model({.n_components = 2, .covariance_type = type, .init_params = init});
      // The products of the tied covariance are in f64.
      if (type == CovarianceType::tied && init == ml::MixtureInit::random) continue;
      CHECK_THROWS_WITH_AS(model.fit(x), doctest::Contains("too large for f32. Scale the features"),
                           Error);
    }
}

TEST_CASE("GaussianMixture: one sample, constant columns, and x that is not contiguous") {
  for (const CovarianceType type : kTypes) {
    GaussianMixture one({.covariance_type = type});
    one.fit(Tensor{{3, 4}});
    check_close(one.means(), {3, 4}, 1e-6);
    const Tensor x = noisy_centers({{0, 7}, {9, 7}}, 90, 0.5f, 8);
    GaussianMixture expected({.n_components = 2, .covariance_type = type}),
        strided({.n_components = 2, .covariance_type = type});
    expected.fit(x);
    const Tensor across = x.transpose().contiguous().transpose();
    REQUIRE_FALSE(across.is_contiguous());
    strided.fit(across);
    check_close(strided.means(), doubles(expected.means()), 0);
    check_close(strided.predict_proba(across), doubles(expected.predict_proba(x)), 0);
  }
}

TEST_CASE("GaussianMixture: diagonal covariances with one pass, and by operations of a device") {
  // 1000 is no multiple of a block.
  const Tensor x = noisy_centers({{0, 0, 1}, {5, 0, -1}, {0, 5, 2}}, 1000, 1, 9);
  for (const CovarianceType type : {CovarianceType::diag, CovarianceType::spherical}) {
    GaussianMixture expected({.n_components = 3, .covariance_type = type, .tol = 0, .max_iter = 7});
    expected.fit(x);
    for (const Device device : all_devices()) {
      GaussianMixture there({.n_components = 3, .covariance_type = type, .tol = 0, .max_iter = 7});
      there.fit(x.to(device));
      check_close(there.means(), doubles(expected.means()), 1e-4, 1e-4);
      check_close(there.covariances(), doubles(expected.covariances()), 1e-4, 1e-4);
      CHECK(there.lower_bound() == doctest::Approx(expected.lower_bound()).epsilon(1e-5));
    }
  }
}
