// SPDX-License-Identifier: MIT
// The accuracy of each solver against double precision, as stated in
// docs/benchmarks/convolution-errors.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/conv/sample.h"
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

/// One layer of each size of VGG-16. On OpenCL only two, because each has its own kernels to build.
/// One problem has a batch: the gradient of its filter sums 50,176 products.
std::vector<ConvProblem> vgg(Device device) {
  if (KAISEKI_SLOW) return {problem(1, 256, 28, 256, 3)};
  std::vector<ConvProblem> layers{problem(1, 256, 56, 256, 3), problem(1, 512, 28, 512, 3),
                                  problem(4, 64, 112, 64, 3)};
  if (device.is_cpu())
    layers.insert(layers.end(), {problem(1, 64, 224, 64, 3), problem(1, 128, 112, 128, 3),
                                 problem(1, 512, 14, 512, 3)});
  return layers;
}

bool is_winograd(const std::string& name) { return name.find("winograd") != std::string::npos; }

/// The largest errors, relative to the largest value at these places.
using Errors = std::map<std::string, double>;

class Measure {
 public:
  explicit Measure(Device device) : device_(device) {}

  /// Runs the solvers that `takes` accepts, in all directions.
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
        exact[i] = conv::exact_value(p, args, place(result, exact.size(), i)).sum;
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
    CHECK(std::all_of(values, values + result.size(), [](float v) { return std::isfinite(v); }));
    double worst = 0, largest = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      const double error = std::abs(values[place(result, exact.size(), i)] - exact[i]);
      worst = std::max(worst, std::isnan(error) ? HUGE_VAL : error);
      largest = std::max(largest, std::abs(exact[i]));
    }
    // Measured errors of float sums and Fourier transforms are up to 2e-6 of the largest value.
    // Winograd's are up to 1.5e-5, because its constants amplify roundings. A wrong term causes a
    // far larger error.
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
