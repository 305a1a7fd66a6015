// SPDX-License-Identifier: MIT
// Filters that are transformed once and used until they change.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/devices.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

constexpr Conv2d kConv{.padding = {1, 1}};
constexpr int64_t kChannels = 64, kSide = 14;

/// A convolution that Winograd's solver computes, forward and backward.
struct Layer {
  Tensor x, filter;
  explicit Layer(Device device)
      : x(test::random_tensor({2, kChannels, kSide, kSide}, 1, device)),
        filter(test::random_tensor({kChannels, kChannels, 3, 3}, 2, device)) {
    device.workspace().set_limit({});
    for (ConvDirection direction : {ConvDirection::forward, ConvDirection::backward_data}) {
      ConvProblem p = conv_problem(x.shape(), filter.shape(), kConv);
      p.direction = direction;
      const auto candidates = conv_candidates(device.backend(), p);
      REQUIRE_MESSAGE(!candidates.empty(), "no solver of ", device.name(), " accepts ", p.str());
      const ConvSolver& solver = *candidates.front().solver;
      REQUIRE_MESSAGE(solver.prepared_bytes(p) > 0, solver.name(), " has no prepared_bytes()");
    }
  }

  std::vector<float> run() {
    Tensor y(x.shape(), DType::f32, x.device()), dx = y.clone();
    conv2d_into(y, x, filter, kConv);
    conv2d_backward_data_into(dx, x, filter, kConv);
    std::vector<float> values = y.to_vector(), more = dx.to_vector();
    values.insert(values.end(), more.begin(), more.end());
    return values;
  }

  /// Runs with a copy of the filter that the cache does not know.
  std::vector<float> run_fresh() {
    Layer fresh = *this;
    fresh.filter = filter.clone();
    return fresh.run();
  }
};

}  // namespace

TEST_CASE("prepared filters: the same weights in another shape are another filter") {
  test::for_each_device([](Device device) {
    const Tensor x = test::random_tensor({2, 64, kSide, kSide}, 1, device);
    const Tensor half = test::random_tensor({2, 32, kSide, kSide}, 3, device);
    const Tensor filter = test::random_tensor({32, 64, 3, 3}, 2, device);
    device.workspace().set_limit({});
    Tensor y({2, 32, kSide, kSide}, DType::f32, device), wide(x.shape(), DType::f32, device);
    for (int i = 0; i < 3; ++i) conv2d_into(y, x, filter, kConv);
    Tensor expected = wide.clone();
    conv2d_into(expected, half, filter.clone().reshape({64, 32, 3, 3}), kConv);
    for (int i = 0; i < 3; ++i) {
      conv2d_into(wide, half, filter.reshape({64, 32, 3, 3}), kConv);
      CHECK(wide.to_vector() == expected.to_vector());
    }
  });
}

TEST_CASE("prepared filters: every solver gives the same bits, for any number and size of images") {
  int ran = 0;
  test::for_each_device([&](Device device) {
    for (ConvProblem p : test::conv_cases())
      for (const ConvSolver* solver : device.backend().conv_solvers())
        for (ConvDirection direction : {ConvDirection::forward, ConvDirection::backward_data,
                                        ConvDirection::backward_filter}) {
          p.direction = direction;
          ConvProblem other = p;
          other.n = 1, other.h += 3, other.w += 2;
          if (!solver->applicable(p) || !solver->applicable(other)) continue;
          const uint64_t bytes = solver->prepared_bytes(other);
          INFO(std::string(solver->name()), " ", p.str());
          CHECK(bytes == solver->prepared_bytes(p));
          if (bytes == 0) continue;
          REQUIRE(direction != ConvDirection::backward_filter);
          const bool forward = direction == ConvDirection::forward;
          Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device);
          Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 2, device);
          Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 3, device);
          Tensor workspace = test::nan_workspace(solver->workspace_bytes(p), device);
          Tensor prepared = test::nan_workspace(bytes, device);
          ConvArgs args{.x = &x, .filter = &filter, .y = &y};
          if (workspace.defined()) args.workspace = &workspace;
          solver->run(p, args);
          const std::vector<float> expected = (forward ? y : x).to_vector();
          solver->prepare(other, filter, prepared);
          fill(forward ? y : x, 7);
          if (forward)
            y = test::random_tensor(y.shape(), 4, device);
          else
            x = test::random_tensor(x.shape(), 4, device);
          fill(filter, NAN);  // is not read any more
          workspace = test::nan_workspace(solver->workspace_bytes(p), device);
          args.prepared = &prepared;
          solver->run(p, args);
          CHECK((forward ? y : x).to_vector() == expected);
          ++ran;
        }
  });
  CHECK(ran >= 20);
}

TEST_CASE("prepared filters: reused with the same bits, and never after a change") {
  test::WithTunePolicy policy({TuneMode::off});
  test::for_each_device([](Device device) {
    Layer layer(device);
    const uint64_t before = device.memory().account().workspace;
    const std::vector<float> expected = layer.run_fresh();
    for (int i = 0; i < 4; ++i) CHECK(layer.run() == expected);
    const uint64_t kept = device.workspace().derived_bytes();
    CHECK(kept >= 2 * layer.filter.bytes());
    CHECK(device.memory().account().workspace >= before + kept);

    // One training step.
    update("w = w - 0.1 * g", {{"w", layer.filter}, {"g", layer.filter.clone()}});
    for (int i = 0; i < 3; ++i) CHECK(layer.run() == layer.run_fresh());
    CHECK(layer.run() != expected);

    const Tensor loaded = test::random_tensor(layer.filter.shape(), 9, device);
    copy_into(layer.filter, loaded);
    for (int i = 0; i < 3; ++i) CHECK(layer.run() == layer.run_fresh());

    const float first = layer.filter.to_vector()[0];
    layer.filter.mutable_data<float>()[0] = NAN;
    for (int i = 0; i < 3; ++i) CHECK(std::isnan(layer.run()[0]));
    layer.filter.mutable_data<float>()[0] = first;
    const std::vector<float> healed = layer.run();
    CHECK(healed == layer.run_fresh());
    CHECK_FALSE(std::isnan(healed[0]));
    device.workspace().set_limit({});
  });
}

TEST_CASE("prepared filters: none is kept if each is used once, as in training") {
  test::WithTunePolicy policy({TuneMode::off});
  test::for_each_device([](Device device) {
    Layer layer(device);
    for (int i = 0; i < 4; ++i) {
      layer.run();
      CHECK(device.workspace().derived_bytes() == 0);
      update("w = 0.9 * w", {{"w", layer.filter}});
    }
    device.workspace().set_limit({});
  });
}

}  // namespace kaiseki
