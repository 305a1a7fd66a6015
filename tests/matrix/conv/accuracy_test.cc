// SPDX-License-Identifier: MIT
// How exact each solver is, against double precision: what docs/benchmarks.md says.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "matrix/backend.h"
#include "matrix/ops/copy.h"
#include "tests/matrix/conv/directions.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/devices.h"
#include "tests/support/slow.h"

namespace kaiseki {
namespace {

constexpr int64_t kPlaces = 200;  // values of a result that are compared

ConvProblem problem(int64_t n, int64_t c, int64_t side, int64_t k, int64_t taps, int64_t groups = 1,
                    int64_t stride = 1) {
  ConvProblem p{ConvDirection::forward, n, c, side, side, k, taps, taps};
  p.stride = {stride, stride};
  p.padding = {taps / 2, taps / 2};
  p.groups = groups;
  return p;
}

/// One of each size of VGG-16's layers; on OpenCL, where each has its own kernels to build, two.
std::vector<ConvProblem> vgg(Device device) {
  if (KAISEKI_SLOW) return {problem(1, 256, 28, 256, 3)};
  std::vector<ConvProblem> layers{problem(1, 256, 56, 256, 3), problem(1, 512, 28, 512, 3)};
  if (device.is_cpu())
    layers.insert(layers.end(), {problem(1, 64, 224, 64, 3), problem(1, 128, 112, 128, 3),
                                 problem(1, 512, 14, 512, 3)});
  return layers;
}

/// Single values of a result by plain loops in double.
class Exact {
 public:
  Exact(const ConvProblem& p, const Tensor& x, const Tensor& filter, const Tensor& y)
      : p_(p), x_(x.data<float>()), filter_(filter.data<float>()), y_(y.data<float>()) {}

  double at(int64_t place) const {
    const auto take = [&](int64_t count) {
      const int64_t index = place % count;
      place /= count;
      return index;
    };
    const int64_t group_c = p_.c / p_.groups, group_k = p_.k / p_.groups;
    double sum = 0;
    if (p_.direction == ConvDirection::forward) {
      const int64_t j = take(p_.out_w()), i = take(p_.out_h()), k = take(p_.k);
      for (int64_t c = 0; c < group_c; ++c)
        for (int64_t r = 0; r < p_.r; ++r)
          for (int64_t s = 0; s < p_.s; ++s)
            sum += x(place, k / group_k * group_c + c, i, r, j, s) * filter(k, c, r, s);
    } else if (p_.direction == ConvDirection::backward_data) {
      const int64_t w = take(p_.w), h = take(p_.h), c = take(p_.c);
      for (int64_t k = c / group_c * group_k; k < (c / group_c + 1) * group_k; ++k)
        for (int64_t r = 0; r < p_.r; ++r)
          for (int64_t s = 0; s < p_.s; ++s) {
            const int64_t i = h + p_.padding[0] - r, j = w + p_.padding[1] - s;
            if (i % p_.stride[0] == 0 && j % p_.stride[1] == 0)
              sum += y(place, k, i / p_.stride[0], j / p_.stride[1]) * filter(k, c % group_c, r, s);
          }
    } else {
      const int64_t s = take(p_.s), r = take(p_.r), c = take(group_c);
      for (int64_t n = 0; n < p_.n; ++n)
        for (int64_t i = 0; i < p_.out_h(); ++i)
          for (int64_t j = 0; j < p_.out_w(); ++j)
            sum += x(n, place / group_k * group_c + c, i, r, j, s) * y(n, place, i, j);
    }
    return sum;
  }

 private:
  double x(int64_t n, int64_t c, int64_t i, int64_t r, int64_t j, int64_t s) const {
    const int64_t h = i * p_.stride[0] - p_.padding[0] + r;
    const int64_t w = j * p_.stride[1] - p_.padding[1] + s;
    const bool inside = h >= 0 && h < p_.h && w >= 0 && w < p_.w;
    return inside ? x_[((n * p_.c + c) * p_.h + h) * p_.w + w] : 0;
  }
  double filter(int64_t k, int64_t c, int64_t r, int64_t s) const {
    return filter_[((k * (p_.c / p_.groups) + c) * p_.r + r) * p_.s + s];
  }
  double y(int64_t n, int64_t k, int64_t i, int64_t j) const {
    const bool inside = i >= 0 && i < p_.out_h() && j >= 0 && j < p_.out_w();
    return inside ? y_[((n * p_.k + k) * p_.out_h() + i) * p_.out_w() + j] : 0;
  }

  const ConvProblem& p_;
  const float *x_, *filter_, *y_;
};

bool is_winograd(const std::string& name) { return name.find("winograd") != std::string::npos; }

/// The largest errors, by the largest value of the result.
using Errors = std::map<std::string, double>;

class Measure {
 public:
  explicit Measure(Device device) : device_(device) {}

  /// In all directions, the solvers that `takes` names.
  template <typename F>
  void run(ConvProblem p, F takes) {
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device_);
    Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device_);
    Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device_);
    for (ConvDirection direction : test::kDirections) {
      p.direction = direction;
      ConvArgs args{.x = &x, .filter = &filter, .y = &y};
      Tensor*& output = direction == ConvDirection::forward         ? args.y
                        : direction == ConvDirection::backward_data ? args.x
                                                                    : args.filter;
      Tensor result(output->shape(), DType::f32, device_);
      output = &result;
      std::vector<double> exact(static_cast<size_t>(std::min(result.size(), kPlaces)));
      for (size_t i = 0; i < exact.size(); ++i)
        exact[i] = Exact(p, x, filter, y).at(place(result, exact.size(), i));
      for (const ConvSolver* solver : device_.backend().conv_solvers()) {
        const std::string name = test::run_name(solver->name(), direction);
        if (!solver->applicable(p) || !takes(name)) continue;
        INFO(name, " ", p.str());
        compare(*solver, p, args, result, exact, name);
      }
    }
  }

  const Errors& worst() const { return worst_; }

 private:
  static int64_t place(const Tensor& result, size_t count, size_t i) {
    const auto last = static_cast<size_t>(result.size() - 1);
    return static_cast<int64_t>(last * i / std::max<size_t>(1, count - 1));
  }

  void compare(const ConvSolver& solver, const ConvProblem& p, ConvArgs args, Tensor& result,
               const std::vector<double>& exact, const std::string& name) {
    fill(result, NAN);
    Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), device_);
    if (workspace.defined()) args.workspace = &workspace;
    solver.run(p, args);
    const float* values = result.data<float>();
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < result.size(); ++i)
      largest = std::max<double>(largest, std::abs(values[i]));
    for (size_t i = 0; i < exact.size(); ++i) {
      const double error = std::abs(values[place(result, exact.size(), i)] - exact[i]);
      worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
    }
    // Float sums and Fourier transforms are seen to be off by up to 1e-6 of the largest value;
    // Winograd's, whose constants amplify roundings, by 1e-5. A wrong term is off by far more.
    CHECK(worst < (is_winograd(name) ? 5e-5 : 5e-6) * largest);
    worst_[name] = std::max(worst_[name], worst / largest);
  }

  Device device_;
  Errors worst_;
};

}  // namespace

TEST_CASE("every solver is exact to some units in the last place of the largest value") {
  test::for_each_device([](Device device) {
    Measure measure(device);
    for (const ConvProblem& p : vgg(device)) measure.run(p, is_winograd);
    for (const ConvProblem& p :
         {problem(1, 512, 14, 64, 3), problem(2, 200, 9, 14, 1), problem(1, 24, 30, 6, 7),
          problem(1, 8, 30, 16, 5), problem(2, 12, 28, 12, 3, 12), problem(1, 32, 27, 24, 5, 2),
          problem(1, 96, 27, 96, 5), problem(5, 3, 63, 40, 11, 1, 4),
          problem(2, 32, 28, 40, 5, 1, 2)})
      measure.run(p, [&](const std::string& name) {
        return device.is_cpu() || !measure.worst().contains(name);
      });
    for (const auto& [name, seen] : measure.worst())
      MESSAGE(device.name() << " " << name << ": largest error " << seen);
    for (const std::string& name : test::all_runs(device.backend())) {
      CAPTURE(name);
      CHECK(measure.worst().contains(name));
    }
  });
}

}  // namespace kaiseki
