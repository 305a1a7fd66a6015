// SPDX-License-Identifier: MIT
#include "matrix/ops/norm.h"

#include <cmath>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// [n, c, inner] of a tensor, and its elements in double.
struct View {
  int64_t n, c, inner;
  Doubles v;
  explicit View(const Tensor& x)
      : n(x.dim(0)), c(x.dim(1)), inner(x.size() / (n * c)), v(doubles(x)) {}
  View(const View& shape, double value) : View(shape) { v.assign(v.size(), value); }
  View(const View&) = default;
  double& at(int64_t i, int64_t k, int64_t j) { return v[(i * c + k) * inner + j]; }
};

const Shape kShapes[] = {{2, 1},    {5, 3},        {64, 10},     {4, 3, 5, 7},   {3, 17, 1, 1},
                         {1, 2, 9}, {2, 5, 33, 2}, {7, 2, 3, 3}, {16, 8, 28, 28}};

struct Normalized {
  Doubles mean, variance, inv_std, y;
};

Normalized normalize(View x, const Doubles& gamma, const Doubles& beta, double eps) {
  Normalized result{Doubles(x.c, 0), Doubles(x.c, 0), Doubles(x.c, 0), x.v};
  double count = static_cast<double>(x.n * x.inner);
  for (int64_t k = 0; k < x.c; ++k) {
    for (int64_t i = 0; i < x.n; ++i)
      for (int64_t j = 0; j < x.inner; ++j) result.mean[k] += x.at(i, k, j) / count;
    for (int64_t i = 0; i < x.n; ++i)
      for (int64_t j = 0; j < x.inner; ++j)
        result.variance[k] += std::pow(x.at(i, k, j) - result.mean[k], 2) / count;
    result.inv_std[k] = 1 / std::sqrt(result.variance[k] + eps);
  }
  View y = x;
  for (int64_t i = 0; i < x.n; ++i)
    for (int64_t k = 0; k < x.c; ++k)
      for (int64_t j = 0; j < x.inner; ++j)
        y.at(i, k, j) = (x.at(i, k, j) - result.mean[k]) * result.inv_std[k] * gamma[k] + beta[k];
  result.y = y.v;
  return result;
}

}  // namespace

TEST_CASE("batch norm: statistics, results and running values") {
  for_each_device([](Device device) {
    for (const Shape& shape : kShapes) {
      INFO(shape.str());
      Shape channels{shape[1]};
      Tensor x = random_tensor(shape, 1, device, 2, 5), y(shape, DType::f32, device);
      Tensor gamma = random_tensor(channels, 2, device), beta = random_tensor(channels, 3, device);
      Tensor running_mean = random_tensor(channels, 4, device);
      Tensor running_var = random_tensor(channels, 5, device, 1, 2);
      Doubles means = doubles(running_mean), variances = doubles(running_var);
      Tensor mean(channels, DType::f32, device), inv_std(channels, DType::f32, device);
      BatchNorm norm{1e-3f, 0.2f};
      Normalized expected = normalize(View(x), doubles(gamma), doubles(beta), norm.eps);
      batch_norm_train({.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm},
                       {.running_mean = running_mean,
                        .running_var = running_var,
                        .mean = mean,
                        .inv_std = inv_std});
      double count = static_cast<double>(x.size() / shape[1]);
      for (size_t k = 0; k < means.size(); ++k) {
        means[k] = 0.8 * means[k] + 0.2 * expected.mean[k];
        variances[k] = 0.8 * variances[k] + 0.2 * expected.variance[k] * count / (count - 1);
      }
      check_close(mean, expected.mean, 1e-6);
      check_close(inv_std, expected.inv_std, 1e-5);
      check_close(y, expected.y, 1e-5, 1e-5);
      check_close(running_mean, means, 2e-6, 1e-6);
      check_close(running_var, variances, 1e-5);

      batch_norm_infer({.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm}, running_mean,
                       running_var);
      View in(x), out = in;
      Doubles g = doubles(gamma), b = doubles(beta);
      for (int64_t i = 0; i < in.n; ++i)
        for (int64_t k = 0; k < in.c; ++k)
          for (int64_t j = 0; j < in.inner; ++j)
            out.at(i, k, j) =
                (in.at(i, k, j) - means[k]) / std::sqrt(variances[k] + norm.eps) * g[k] + b[k];
      check_close(y, out.v, 1e-5, 1e-5);
    }
  });
}

TEST_CASE("batch norm: with relu, and again from the statistics") {
  for_each_device([](Device device) {
    for (const Shape& shape : kShapes) {
      INFO(shape.str());
      const Shape channels{shape[1]};
      const Tensor x = random_tensor(shape, 1, device, 2, 5);
      const Tensor gamma = random_tensor(channels, 2, device);
      const Tensor beta = random_tensor(channels, 3, device, -0.5f, 0.5f);
      const auto result = [&](bool relu, bool again) {
        Tensor mean = gamma.clone(), variance = gamma.clone(), y = x.clone();
        Tensor means(channels, DType::f32, device), inv_stds(channels, DType::f32, device);
        const BatchNorm norm{.relu = relu};
        batch_norm_train(
            {.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm},
            {.running_mean = mean, .running_var = variance, .mean = means, .inv_std = inv_stds});
        if (again) {
          y = x.clone();
          batch_norm_apply({.x = x, .gamma = gamma, .beta = beta, .y = y, .norm = norm}, means,
                           inv_stds);
        }
        return y.to_vector();
      };
      std::vector<float> expected = result(false, false);
      CHECK(result(false, true) == expected);
      for (float& value : expected) value = std::max(value, 0.0f);
      CHECK(result(true, false) == expected);
      CHECK(result(true, true) == expected);
    }
    Tensor x = Tensor::from({1, 2, NAN, 4}, {1, 2, 2}, device), y = x.clone();
    const Tensor one = Tensor::full({2}, 1, device), zero = Tensor::zeros({2}, DType::f32, device);
    batch_norm_infer({.x = x, .gamma = one, .beta = zero, .y = y, .norm = {.relu = true}}, zero,
                     one);
    const std::vector<float> values = y.to_vector();
    CHECK((values[1] > 1.9f && std::isnan(values[2]) && values[3] > 3.9f));
  });
}

TEST_CASE("batch norm: a large mean does not reduce the accuracy of the variance") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({8, 2, 31, 31}, 6, device, 10000, 10001), y = x.clone();
    Tensor one = Tensor::full({2}, 1, device), zero = Tensor::zeros({2}, DType::f32, device);
    Tensor running_mean = zero.clone(), running_var = one.clone(), mean = zero.clone(),
           inv_std = zero.clone();
    batch_norm_train({.x = x, .gamma = one, .beta = zero, .y = y}, {.running_mean = running_mean,
                                                                    .running_var = running_var,
                                                                    .mean = mean,
                                                                    .inv_std = inv_std});
    check_close(inv_std, normalize(View(x), {1, 1}, {0, 0}, 1e-5).inv_std, 1e-3);
  });
}

TEST_CASE("batch norm: gradients by finite differences in double") {
  for_each_device([](Device device) {
    for (const Shape& shape :
         {Shape{5, 3}, Shape{4, 3, 5, 7}, Shape{3, 17, 1, 1}, Shape{2, 2, 9, 9}}) {
      INFO(shape.str());
      Shape channels{shape[1]};
      double eps = 1e-2f;
      Tensor x = random_tensor(shape, 7, device), dy = random_tensor(shape, 8, device);
      Tensor gamma = random_tensor(channels, 9, device, 0.5f, 2);
      Doubles g = doubles(gamma), b(g.size(), 0), weights = doubles(dy);
      Normalized forward = normalize(View(x), g, b, eps);
      auto to_tensor = [&](const Doubles& v) {
        std::vector<float> f(v.begin(), v.end());
        return Tensor::from(std::span<const float>(f), channels, device);
      };
      Tensor mean = to_tensor(forward.mean), inv_std = to_tensor(forward.inv_std);
      Tensor dx(shape, DType::f32, device), dgamma = Tensor::full(channels, 1, device),
                                            dbeta = Tensor::full(channels, 2, device);
      batch_norm_backward({.x = x,
                           .dy = dy,
                           .gamma = gamma,
                           .mean = mean,
                           .inv_std = inv_std,
                           .dx = dx,
                           .dgamma = dgamma,
                           .dbeta = dbeta});
      auto loss = [&](const View& in, const Doubles& scale, const Doubles& shift) {
        Doubles y = normalize(in, scale, shift, eps).y;
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
        return sum;
      };
      constexpr double kStep = 1e-5;
      View base(x);
      Doubles expected(base.v.size()), expected_gamma(g.size()), expected_beta(g.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        View up = base, down = base;
        up.v[i] += kStep;
        down.v[i] -= kStep;
        expected[i] = (loss(up, g, b) - loss(down, g, b)) / (2 * kStep);
      }
      for (size_t k = 0; k < g.size(); ++k) {
        Doubles up = g, down = g, high = b, low = b;
        up[k] += kStep;
        down[k] -= kStep;
        high[k] += kStep;
        low[k] -= kStep;
        expected_gamma[k] = 1 + (loss(base, up, b) - loss(base, down, b)) / (2 * kStep);
        expected_beta[k] = 2 + (loss(base, g, high) - loss(base, g, low)) / (2 * kStep);
      }
      check_close(dx, expected, 1e-4, 1e-5);
      check_close(dgamma, expected_gamma, 1e-5, 1e-5);
      check_close(dbeta, expected_beta, 1e-5, 1e-5);
    }
  });
}

namespace {

/// PyTorch's window: size/2 channels before, (size-1)/2 after.
Doubles lrn_of(const View& input, const Lrn& norm) {
  View x = input, y = input;
  for (int64_t i = 0; i < x.n; ++i)
    for (int64_t k = 0; k < x.c; ++k)
      for (int64_t j = 0; j < x.inner; ++j) {
        double sum = 0;
        for (int64_t m = std::max<int64_t>(0, k - norm.size / 2);
             m <= std::min(x.c - 1, k + (norm.size - 1) / 2); ++m)
          sum += x.at(i, m, j) * x.at(i, m, j);
        double d = norm.k + norm.alpha / static_cast<double>(norm.size) * sum;
        y.at(i, k, j) = x.at(i, k, j) * std::pow(d, -static_cast<double>(norm.beta));
      }
  return y.v;
}

const Lrn kLrns[] = {{5, 1e-4f, 0.75f, 1}, {1, 0.5f, 0.5f, 2}, {2, 1, 0.75f, 1},
                     {4, 0.7f, 0.6f, 1},   {3, 1, 1, 0.5f},    {31, 2, 0.75f, 1}};

}  // namespace

TEST_CASE("local response normalization: any window, also even ones and wider than the channels") {
  for_each_device([](Device device) {
    for (const Shape& shape : kShapes)
      for (const Lrn& norm : kLrns) {
        INFO(shape.str() << " size " << norm.size);
        Tensor x = random_tensor(shape, 10, device, -3, 3), y(shape, DType::f32, device);
        lrn_into(y, x, norm);
        check_close(y, lrn_of(View(x), norm), 3e-6, 1e-7);
      }
  });
}

TEST_CASE("local response normalization: gradients by finite differences in double") {
  for_each_device([](Device device) {
    for (const Shape& shape : {Shape{2, 1}, Shape{2, 7}, Shape{2, 6, 3, 5}, Shape{1, 3, 70}})
      for (const Lrn& norm : kLrns) {
        INFO(shape.str() << " size " << norm.size);
        Tensor x = random_tensor(shape, 11, device, -2, 2), dy = random_tensor(shape, 12, device);
        Tensor y(shape, DType::f32, device), dx(shape, DType::f32, device);
        lrn_into(y, x, norm);
        lrn_backward_into(dx, x, y, dy, norm);
        View base(x);
        Doubles expected(base.v.size()), weights = doubles(dy);
        constexpr double kStep = 1e-5;
        for (size_t i = 0; i < expected.size(); ++i) {
          View up = base, down = base;
          up.v[i] += kStep;
          down.v[i] -= kStep;
          Doubles high = lrn_of(up, norm), low = lrn_of(down, norm);
          for (size_t j = 0; j < high.size(); ++j)
            expected[i] += weights[j] * (high[j] - low[j]) / (2 * kStep);
        }
        check_close(dx, expected, 1e-5, 1e-5);
      }
  });
}

TEST_CASE("norms: bad shapes are errors, empty input is not") {
  Tensor x({2, 3, 4}), y({2, 3, 4}), c({3}), d({4});
  CHECK_THROWS_AS(batch_norm_train({.x = x, .gamma = d, .beta = c, .y = y},
                                   {.running_mean = c, .running_var = c, .mean = c, .inv_std = c}),
                  ShapeError);
  CHECK_THROWS_AS(batch_norm_train({.x = x, .gamma = c, .beta = c, .y = d},
                                   {.running_mean = c, .running_var = c, .mean = c, .inv_std = c}),
                  ShapeError);
  CHECK_THROWS_AS(lrn_into(y, x, {0}), ShapeError);
  Tensor gradient(x.shape());
  CHECK_THROWS_AS(lrn_backward_into(x, x, gradient, gradient, {}), ShapeError);
  CHECK_THROWS_AS(lrn_backward_into(gradient, x, x, gradient, {}), ShapeError);
  CHECK_THROWS_AS(lrn_into(x, x, {}), ShapeError);
  CHECK_THROWS_AS(lrn_into(d, d, {}), ShapeError);
  Tensor none({0, 3, 4}), out({0, 3, 4});
  lrn_into(out, none, {});
  CHECK_THROWS_AS(batch_norm_train({.x = none, .gamma = c, .beta = c, .y = out},
                                   {.running_mean = c, .running_var = c, .mean = c, .inv_std = c}),
                  ShapeError);
}

TEST_CASE("norms: the number of threads does not change the result") {
  Tensor x = random_tensor({16, 8, 28, 28}, 13), y(x.shape());
  auto run = [&] {
    Tensor one = Tensor::full({8}, 1), mean({8}), inv_std({8});
    batch_norm_train({.x = x, .gamma = one, .beta = one, .y = y},
                     {.running_mean = one, .running_var = one, .mean = mean, .inv_std = inv_std});
    std::vector<float> all = y.to_vector();
    lrn_into(y, x, {});
    for (float v : y.to_vector()) all.push_back(v);
    return all;
  };
  set_thread_count(1);
  auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
}
