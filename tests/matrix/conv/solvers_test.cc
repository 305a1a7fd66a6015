// SPDX-License-Identifier: MIT
// Every solver of every device, in every direction that it can do, against plain loops in double.
#include <doctest/doctest.h>

#include "matrix/backend.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

struct Data {
  Tensor x, filter, y, bias;
  Data(const ConvProblem& p, Device device)
      : x(test::random_tensor({p.n, p.c, p.h, p.w}, 1, device)),
        filter(test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device)),
        y(test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device)),
        bias(test::random_tensor({p.k}, 4, device)) {}
};

bool mixes_sums(const ConvSolver& solver) {
  return solver.name().find("winograd") != std::string_view::npos ||
         solver.name().find("fft") != std::string_view::npos;
}

void run(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args, Device device) {
  Tensor workspace;
  if (const uint64_t bytes = solver.workspace_bytes(problem)) {
    workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, device);
    args.workspace = &workspace;
  }
  solver.run(problem, args);
}

}  // namespace

TEST_CASE("every solver agrees with plain loops") {
  test::for_each_device([](Device device) {
    for (ConvProblem p : test::conv_cases()) {
      Data data(p, device);
      const auto expected = test::conv_reference(p, test::doubles(data.x),
                                                 test::doubles(data.filter), test::doubles(data.y));
      for (const ConvSolver* solver : device.backend().conv_solvers()) {
        INFO(std::string(solver->name()), " ", p.str());
        p.direction = ConvDirection::forward;
        if (solver->applicable(p)) {
          Tensor y = Tensor::full(data.y.shape(), 7, device);
          run(*solver, p, {.x = &data.x, .filter = &data.filter, .y = &y}, device);
          test::check_sums(y, expected.y, expected.y_size, mixes_sums(*solver));
        }
        p.direction = ConvDirection::backward_data;
        if (solver->applicable(p)) {
          Tensor dx = Tensor::full(data.x.shape(), 7, device);
          run(*solver, p, {.x = &dx, .filter = &data.filter, .y = &data.y}, device);
          test::check_sums(dx, expected.dx, expected.dx_size, mixes_sums(*solver));
        }
        p.direction = ConvDirection::backward_filter;
        if (solver->applicable(p)) {
          Tensor dfilter = Tensor::full(data.filter.shape(), 7, device);
          run(*solver, p, {.x = &data.x, .filter = &dfilter, .y = &data.y}, device);
          test::check_sums(dfilter, expected.dfilter, expected.dfilter_size, mixes_sums(*solver));
        }
      }
    }
  });
}

TEST_CASE("every solver adds the bias, applies the activation, and keeps beta of the gradient") {
  test::for_each_device([](Device device) {
    for (ConvProblem p : {test::conv_cases()[1], test::conv_cases()[8], test::conv_cases()[19]}) {
      Data data(p, device);
      const auto expected = test::conv_reference(p, test::doubles(data.x),
                                                 test::doubles(data.filter), test::doubles(data.y));
      const int64_t plane = p.out_h() * p.out_w();
      for (const ConvSolver* solver : device.backend().conv_solvers()) {
        INFO(std::string(solver->name()), " ", p.str());
        p.direction = ConvDirection::forward;
        for (Activation activation : {Activation::none, Activation::relu, Activation::leaky_relu,
                                      Activation::sigmoid, Activation::tanh}) {
          if (!solver->applicable(p)) continue;
          const test::Doubles bias = test::doubles(data.bias);
          test::Doubles values = expected.y, size = expected.y_size;
          for (size_t i = 0; i < values.size(); ++i) {
            const double v = values[i] + bias[i / static_cast<size_t>(plane) % bias.size()];
            size[i] += 1;
            switch (activation) {
              case Activation::none:
                values[i] = v;
                break;
              case Activation::relu:
                values[i] = std::max(v, 0.0);
                break;
              case Activation::leaky_relu:
                values[i] = v < 0 ? 0.1 * v : v;
                break;
              case Activation::sigmoid:
                values[i] = 1 / (1 + std::exp(-v));
                break;
              case Activation::tanh:
                values[i] = std::tanh(v);
                break;
            }
          }
          Tensor y(data.y.shape(), DType::f32, device);
          run(*solver, p,
              {.x = &data.x,
               .filter = &data.filter,
               .y = &y,
               .bias = &data.bias,
               .activation = activation,
               .slope = 0.1f},
              device);
          test::check_sums(y, values, size, mixes_sums(*solver));
        }
        p.direction = ConvDirection::backward_filter;
        if (!solver->applicable(p)) continue;
        Tensor dfilter = data.filter.clone();
        test::Doubles sums = expected.dfilter;
        const test::Doubles before = test::doubles(data.filter);
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += 0.5 * before[i];
        run(*solver, p, {.x = &data.x, .filter = &dfilter, .y = &data.y, .beta = 0.5f}, device);
        test::check_sums(dfilter, sums, expected.dfilter_size, mixes_sums(*solver));
      }
    }
  });
}

TEST_CASE("the CPU's solvers give the same bits with any number of threads") {
  for (ConvProblem p : test::conv_cases()) {
    Data data(p, Device::cpu());
    for (const ConvSolver* solver : Device::cpu().backend().conv_solvers()) {
      INFO(std::string(solver->name()), " ", p.str());
      REQUIRE(solver->deterministic());
      for (ConvDirection direction :
           {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
        p.direction = direction;
        if (!solver->applicable(p)) continue;
        std::vector<float> first;
        for (int threads : {1, 2, 3}) {
          set_thread_count(threads);
          Data copy = data;
          Tensor& out = direction == ConvDirection::forward         ? copy.y
                        : direction == ConvDirection::backward_data ? copy.x
                                                                    : copy.filter;
          out = Tensor::zeros(out.shape());
          run(*solver, p, {.x = &copy.x, .filter = &copy.filter, .y = &copy.y}, Device::cpu());
          if (first.empty()) first = out.to_vector();
          CHECK(first == out.to_vector());
        }
      }
    }
  }
  set_thread_count(0);
}

TEST_CASE("a problem counts its work and names itself") {
  const ConvProblem p = test::conv_cases()[17];
  CHECK(p.str() == "n1c2h19w23k3r3s2p3x4u2x3d3x2");
  CHECK(p.out_h() == 10);
  CHECK(p.out_w() == 10);
  CHECK(p.flops() == 2.0 * 1 * 3 * 10 * 10 * 2 * 3 * 2);
  CHECK(test::conv_cases()[20].str() == "n2c7h9w9k7r3s3p1g7");
}

}  // namespace kaiseki
