// SPDX-License-Identifier: MIT
// Follows docs/adding-a-backend.md, adding-an-operation.md and adding-a-solver.md with a backend
// that has no operations at first. cmake/backends.cmake adds it to the list of this program.
// Everything runs on the CPU, with counted transfers.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/gemm.h"
#include "matrix/conv/measure.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv_pooling.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "tests/matrix/backend/bare/bare_backend.h"
#include "tests/support/cache_folder.h"
#include "tests/support/operations.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

using test::OperationCase;
using test::operations;
using test::random_tensor;
using test::values;

/// For filters of one element and one channel.
class ScaleSolver : public ConvSolver {
 public:
  std::string_view name() const override { return "scale"; }
  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::forward && p.r * p.s == 1 && p.c == 1 && p.k == 1 &&
           p.out_h() == p.h && p.out_w() == p.w;
  }
  uint64_t workspace_bytes(const ConvProblem&) const override { return 12; }
  void run(const ConvProblem&, const ConvArgs& args) const override {
    ++runs;
    workspace = args.workspace->size();
    const float factor = args.filter->data<float>()[0];
    const float* x = args.x->data<float>();
    float* y = args.y->overwrite<float>();
    for (int64_t i = 0; i < args.y->size(); ++i) y[i] = factor * x[i];
  }
  mutable int runs = 0;
  mutable int64_t workspace = 0;
};

}  // namespace

TEST_CASE("a backend in the list is found by its name") {
  const Device device = test::bare_device();
  CHECK(device.name() == "bare:0");
  CHECK(device.backend_name() == "bare");
  CHECK(Device::parse("bare") == device);
  CHECK(Device::parse("bare:0") == device);
  CHECK(names_device("bare"));
  CHECK(names_device("bare:3"));
  CHECK_FALSE(names_device("bare:x"));
  CHECK_THROWS_WITH_AS(Device::parse("bare:1"), "[bare] expected device 0, got 1", DeviceError);
  CHECK_THROWS_WITH_AS(Device::parse("gpu"), doctest::Contains("bare, bare:N or auto"),
                       DeviceError);
  const auto devices = list_devices();
  CHECK(std::ranges::find(devices, device, &DeviceInfo::device) != devices.end());
  CHECK(&find_backend("bare") == backends().back());
}

TEST_CASE("without operations, every operation falls back to the CPU, is counted and logged once") {
  int warnings = 0;
  set_log_sink([&](LogLevel, std::string_view text) {
    warnings += text.find("lacks this operation") != std::string_view::npos;
  });
  for (int round = 0; round < 2; ++round)
    for (const OperationCase& one : operations()) {
      INFO(std::string(one.name));
      const uint64_t before = fallback_count();
      const Tensor y = one.run(test::bare_device());
      CHECK(y.device() == test::bare_device());
      CHECK(fallback_count() > before);
      CHECK(values(y) == values(one.run(Device::cpu())));
    }
  set_log_sink({});
  CHECK(warnings == static_cast<int>(operations().size()));
}

TEST_CASE("an added operation is used, and causes only the transfers that it needs") {
  test::BareBackend& backend = test::bare_backend();
  backend.add_fill();
  const uint64_t fallbacks = fallback_count();
  const TransferCount before = transfer_count();
  Tensor x = Tensor::full({1000}, 3, test::bare_device());
  CHECK(backend.fills == 1);
  CHECK(fallback_count() == fallbacks);
  CHECK(transfer_count().to_host == before.to_host);
  CHECK(sum(x).item() == 3000);
  CHECK(fallback_count() == fallbacks + 1);
  TransferCount after = transfer_count();
  CHECK(after.to_host == before.to_host + 1);
  CHECK(after.to_host_bytes == before.to_host_bytes + 4000);
  CHECK(sum(x).item() == 3000);
  CHECK(transfer_count().to_host == after.to_host);  // a valid copy is not copied again
  fill(x, 4);
  CHECK(sum(x).item() == 4000);
  CHECK(transfer_count().to_host == after.to_host + 1);
  backend.remove_operations();
}

TEST_CASE("a backend that is asked for an operation that it lacks throws an error with its name") {
  const test::BareBackend& backend = test::bare_backend();
  CHECK_FALSE(backend.has(kGemm));
  CHECK_THROWS_WITH_AS(backend.run(kGemm, {}),
                       "[gemm] expected a device that has this operation, got bare:0", DeviceError);
}

TEST_CASE(
    "a solver in the backend's list is used for the problems it supports, with its workspace") {
  test::BareBackend& backend = test::bare_backend();
  ScaleSolver solver;
  backend.solvers = {&solver};
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, test::bare_device());
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 2, test::bare_device());
  Tensor y(x.shape(), DType::f32, test::bare_device());
  conv2d_into(y, x, filter, {});
  CHECK(solver.runs == 1);
  CHECK(solver.workspace == 12);
  test::check_close(y, test::doubles(x.to(Device::cpu()) * 2), 0);
  const Tensor wide = Tensor::full({1, 1, 2, 2}, 2, test::bare_device());
  Tensor small({2, 1, 2, 2}, DType::f32, test::bare_device());
  CHECK_THROWS_WITH_AS(conv2d_into(small, x, wide, {}),
                       "[conv2d] expected a solver for n2c1h3w3k1r2s2 on bare:0, got none",
                       DeviceError);
  backend.solvers.clear();
  forget_measurements();
}

TEST_CASE("filters that the CPU transforms for a device belong to the current weights") {
  const Device device = test::bare_device();
  test::WithTunePolicy policy({TuneMode::off});
  Workspace& workspace = Device::cpu().workspace();
  workspace.set_limit({});
  const Tensor x = random_tensor({2, 64, 14, 14}, 1, device);
  Tensor filter = random_tensor({64, 64, 3, 3}, 2, device);
  const Conv2d conv{.padding = {1, 1}};
  Tensor y(x.shape(), DType::f32, device);
  float* held = filter.mutable_data<float>();
  for (int i = 0; i < 3; ++i) conv2d_into(y, x, filter, conv);
  CHECK(workspace.derived_bytes() > 0);
  held[0] = 9;
  conv2d_into(y, x, filter, conv);
  Tensor fresh(x.shape(), DType::f32, device);
  conv2d_into(fresh, x, filter.clone(), conv);
  CHECK(y.to_vector() == fresh.to_vector());
  workspace.set_limit({});
}

TEST_CASE(
    "if the device refuses a workspace, the old block stays, and the device is not asked again") {
  constexpr uint64_t kMiB = 1 << 20;
  test::BareBackend& backend = test::bare_backend();
  Workspace& workspace = test::bare_device().workspace();
  Allocator& allocator = test::bare_device().memory();
  workspace.set_limit({});
  allocator.trim();
  Tensor weights({kMiB}, DType::u8, test::bare_device());
  weights.buffer().on_device(Access::write);
  workspace.reserve(kMiB);
  REQUIRE(workspace.size() == kMiB);
  const auto iterate = [&] {
    workspace.request_sizes(std::vector<uint64_t>{2 * kMiB, 4 * kMiB}, {});
    workspace.grow();
    return workspace.size();
  };
  backend.refused_from = 2 * kMiB;
  CHECK(iterate() == kMiB);
  const int allocations = backend.allocations;
  CHECK(iterate() == kMiB);
  CHECK(backend.allocations == allocations);
  backend.refused_from = UINT64_MAX;
  CHECK(iterate() == kMiB);  // tensors need as much as before
  for (int i = 0; i < 100; ++i) iterate();
  CHECK(workspace.size() == 4 * kMiB);  // another process may have freed memory
  workspace.set_limit({});
  workspace.reserve(kMiB);
  backend.refused_from = 2 * kMiB;
  CHECK(iterate() == kMiB);
  backend.refused_from = UINT64_MAX;
  CHECK(iterate() == kMiB);
  const int before = backend.allocations;
  weights = Tensor();
  allocator.trim();
  CHECK(iterate() == 4 * kMiB);
  workspace.request_sizes(std::vector<uint64_t>{test::kBareLargest + 1},
                          {});  // allocating the workspace would be an error
  CHECK(iterate() == 4 * kMiB);
  CHECK(backend.allocations == before + 1);
  workspace.set_limit({});
}

TEST_CASE(
    "the limit of one buffer applies to the block and to each transformed filter separately") {
  test::BareBackend& backend = test::bare_backend();
  const Device device = test::bare_device();
  Workspace& workspace = device.workspace();
  workspace.set_limit({});
  workspace.reserve(test::kBareLargest);
  REQUIRE(workspace.size() == test::kBareLargest);
  const auto keep = [&](const Tensor& source) {
    const DerivedCache::Form form{&backend, 0, source.bytes()};
    workspace.use_derived(source, form, [](Tensor&) {});
    return workspace.use_derived(source, form, [](Tensor&) {}).memory.defined();
  };
  const Tensor filter({1000}, DType::u8, device);
  CHECK(keep(filter));
  CHECK(workspace.size() == test::kBareLargest);
  CHECK(workspace.derived_bytes() == 1000);
  workspace.set_limit({});
  CHECK(keep(filter));
  workspace.reserve(test::kBareLargest);
  CHECK(workspace.size() == test::kBareLargest);
  CHECK(workspace.derived_bytes() == 1000);  // was not released for it
  workspace.set_limit({});
}

TEST_CASE("the workspace for a measurement is added to the block, within the device's memory") {
  constexpr uint64_t kMiB = 1 << 20;
  const Device device = test::bare_device();
  Workspace& workspace = device.workspace();
  device.memory().trim();
  workspace.set_limit({});
  workspace.reserve(40 * kMiB);
  REQUIRE(workspace.size() == 40 * kMiB);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.emplace_back(Shape{56 * kMiB}, DType::u8, device);
  CHECK(workspace.use_for_measurement(48 * kMiB).memory.defined());
  CHECK_FALSE(workspace.use_for_measurement(49 * kMiB).memory.defined());  // 256 - 3 * 56 - 40
  CHECK(workspace.size() == 40 * kMiB);
  workspace.set_limit({});
  tensors.clear();
  device.memory().trim();
}

TEST_CASE("a solver without memory for pooling in the same pass leaves it to a second pass") {
  class Short : public ScaleSolver {
   public:
    bool fuses_pooling(const ConvProblem&) const override { return true; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      if (!args.pooling) return ScaleSolver::run(p, args);
      ++refused;
      throw std::bad_alloc();
    }
    mutable int refused = 0;
  };
  test::BareBackend& backend = test::bare_backend();
  const Short solver;
  backend.solvers = {&solver};
  test::WithTunePolicy policy({TuneMode::off});
  const Tensor x = random_tensor({2, 1, 4, 4}, 1, test::bare_device());
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 2, test::bare_device());
  test::bare_device().workspace().reserve(solver.workspace_bytes({}));
  Tensor y, indices, expected({2, 1, 2, 2}), places({2, 1, 2, 2}, DType::i32);
  conv2d_max_pool({.x = x, .filter = filter, .y = y, .indices = &indices});
  CHECK(y.device() == test::bare_device());
  CHECK(solver.refused == 1);
  CHECK(solver.runs == 1);
  max_pool2d_into(expected, places, x.to(Device::cpu()) * 2, {});
  CHECK(y.to_vector() == expected.to_vector());
  CHECK(indices.to_vector<int32_t>() == places.to_vector<int32_t>());
  backend.solvers.clear();
  test::bare_device().workspace().set_limit({});
  Tensor made;  // the CPU computes the pooling in the same pass
  conv2d_max_pool({.x = x, .filter = filter, .y = made});
  CHECK(made.device() == test::bare_device());
  CHECK(made.to_vector() == expected.to_vector());
}

TEST_CASE("a solver that computes wrong values is measured but not used") {
  class Wrong : public ScaleSolver {
   public:
    std::string_view name() const override { return "wrong"; }
    void run(const ConvProblem&, const ConvArgs& args) const override {
      float* y = args.y->overwrite<float>();
      for (int64_t i = 0; i < args.y->size(); ++i) y[i] = 1;
    }
  };
  test::CacheFolder folder("bare");
  test::BareBackend& backend = test::bare_backend();
  const Wrong wrong;
  const ScaleSolver right;
  backend.solvers = {&wrong, &right};
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, test::bare_device());
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 3, test::bare_device());
  Tensor y(x.shape(), DType::f32, test::bare_device());
  std::string warned;
  set_log_sink([&](LogLevel, std::string_view text) { warned += text; });
  test::WithTunePolicy policy({TuneMode::exhaustive});
  conv2d_into(y, x, filter, {});
  const auto results = conv_results(backend, conv_problem(x.shape(), filter.shape(), {}));
  REQUIRE(results.size() == 2);
  CHECK(results[0] == TuningResult{"wrong", 0, 12, TuningOutcome::wrong});
  CHECK(results[1].candidate == "scale");
  CHECK(results[1].milliseconds < 1000);
  CHECK(results[1].workspace == 12);
  set_log_sink({});
  Allocator& allocator = test::bare_device().memory();
  Tensor other(y.shape(), DType::f32, test::bare_device());
  other.buffer().on_device(Access::write);
  allocator.trim();
  test::bare_device().workspace().set_limit({});
  allocator.set_budget(allocator.account().in_use);
  // If no solver has room, the convolution throws.
  CHECK_THROWS_AS(conv2d_into(other, x, filter, {}), OutOfMemory);
  allocator.set_budget({});
  CHECK(warned.find("wrong computes wrong values for n2c1h3w3k1r1s1") != std::string::npos);
  test::check_close(y, test::doubles(x.to(Device::cpu()) * 3), 0);
  backend.solvers.clear();
  forget_measurements();
}

TEST_CASE("a solver that is slow only on its first run is measured after that run") {
  class LateBloomer : public ScaleSolver {
   public:
    std::string_view name() const override { return "late"; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      // Simulates the first run on a device.
      if (runs == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ScaleSolver::run(p, args);
    }
  };
  class Steady : public ScaleSolver {
   public:
    std::string_view name() const override { return "steady"; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // simulates work
      ScaleSolver::run(p, args);
    }
  };
  test::CacheFolder folder("late");
  test::BareBackend& backend = test::bare_backend();
  const LateBloomer late;
  const Steady steady;
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, test::bare_device());
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 3, test::bare_device());
  Tensor y(x.shape(), DType::f32, test::bare_device());
  for (bool first : {true, false}) {
    late.runs = 0;
    backend.solvers = first ? std::vector<const ConvSolver*>{&late, &steady}
                            : std::vector<const ConvSolver*>{&steady, &late};
    test::WithTunePolicy policy({TuneMode::exhaustive});
    conv2d_into(y, x, filter, {});
    CHECK(late.runs >= 5);
    const auto results = conv_results(backend, conv_problem(x.shape(), filter.shape(), {}));
    REQUIRE(results.size() == 2);
    for (const TuningResult& result : results)
      CHECK((result.candidate == "late") == (result.milliseconds < 10));
  }
  backend.solvers.clear();
  forget_measurements();
}

TEST_CASE("a device's memory is counted and limited by its allocator from the start") {
  Allocator& allocator = test::bare_device().memory();
  allocator.trim();
  const uint64_t before = allocator.account().in_use;
  Tensor x({1 << 18}, DType::f32, test::bare_device());
  CHECK(allocator.account().in_use == before + (1 << 20));
  allocator.set_budget(allocator.account().in_use);
  Tensor outside({1 << 18}, DType::f32, test::bare_device());
  CHECK_THROWS_AS(outside.buffer().on_device(Access::write), OutOfMemory);
  allocator.set_budget({});
}

}  // namespace kaiseki
