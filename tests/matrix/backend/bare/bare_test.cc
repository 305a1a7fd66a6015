// SPDX-License-Identifier: MIT
// Follows docs/adding-a-backend.md, adding-an-operation.md and adding-a-solver.md on a backend that
// begins with no operation at all: everything works on it through the CPU, with counted transfers.
#include <doctest/doctest.h>

#include <chrono>
#include <new>
#include <thread>

#include "matrix/backend.h"
#include "matrix/conv/measure.h"
#include "matrix/conv/select.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv_pool.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "tests/matrix/backend/bare/bare_backend.h"
#include "tests/support/cache_folder.h"
#include "tests/support/conv_policy.h"
#include "tests/support/operations.h"

namespace kaiseki {
namespace {

using test::Operation;
using test::operations;
using test::random_tensor;
using test::values;

/// The solver of docs/adding-a-solver.md, for filters of one element and one channel each.
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

TEST_CASE("a backend without operations: each one falls back to the CPU, counted and told once") {
  int warnings = 0;
  set_log_sink([&](LogLevel, std::string_view text) {
    warnings += text.find("lacks this operation") != std::string_view::npos;
  });
  for (int round = 0; round < 2; ++round)
    for (const Operation& one : operations()) {
      INFO(std::string(op_name(one.op)));
      const uint64_t before = fallback_count();
      const Tensor y = one.run(Device::opencl(0));
      CHECK(y.device() == Device::opencl(0));
      CHECK(fallback_count() > before);
      CHECK(values(y) == values(one.run(Device::cpu())));
    }
  set_log_sink({});
  CHECK(warnings == static_cast<int>(operations().size()));
}

TEST_CASE("an operation that arrives is used, and costs the transfers that it needs") {
  test::BareBackend& backend = test::bare_backend();
  backend.operations = {Op::fill};
  const uint64_t fallbacks = fallback_count();
  const TransferCount before = transfer_count();
  Tensor x = Tensor::full({1000}, 3, Device::opencl(0));
  CHECK(backend.fills == 1);
  CHECK(fallback_count() == fallbacks);
  CHECK(transfer_count().to_host == before.to_host);
  CHECK(sum(x).item() == 3000);
  CHECK(fallback_count() == fallbacks + 1);
  TransferCount after = transfer_count();
  CHECK(after.to_host == before.to_host + 1);
  CHECK(after.to_host_bytes == before.to_host_bytes + 4000);
  CHECK(sum(x).item() == 3000);
  CHECK(transfer_count().to_host == after.to_host);  // what is valid is not copied again
  fill(x, 4);
  CHECK(sum(x).item() == 4000);
  CHECK(transfer_count().to_host == after.to_host + 1);
  backend.operations.clear();
}

TEST_CASE("an operation that is claimed and not there is an error that names it") {
  test::BareBackend& backend = test::bare_backend();
  backend.operations = {Op::gemm};
  CHECK_THROWS_WITH_AS(operations()[2].run(Device::opencl(0)),
                       "[gemm] expected a device that has this operation, got opencl:0",
                       DeviceError);
  backend.operations.clear();
}

TEST_CASE("a solver in the backend's list is taken for what it can do, with its workspace") {
  test::BareBackend& backend = test::bare_backend();
  ScaleSolver solver;
  backend.operations = {Op::convolution};
  backend.solvers = {&solver};
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, Device::opencl(0));
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 2, Device::opencl(0));
  Tensor y(x.shape(), DType::f32, Device::opencl(0));
  conv2d(x, filter, nullptr, {}, y);
  CHECK(solver.runs == 1);
  CHECK(solver.workspace == 12);
  test::check_close(y, test::doubles(multiply(x.to(Device::cpu()), Tensor::full({1}, 2))), 0);
  const Tensor wide = Tensor::full({1, 1, 2, 2}, 2, Device::opencl(0));
  Tensor small({2, 1, 2, 2}, DType::f32, Device::opencl(0));
  CHECK_THROWS_WITH_AS(conv2d(x, wide, nullptr, {}, small),
                       "[conv2d] expected a solver for n2c1h3w3k1r2s2 on opencl:0, got none",
                       DeviceError);
  backend.solvers.clear();
  backend.operations.clear();
  forget_convolutions();
}

TEST_CASE("filters that the CPU prepares in a device's stead are those of the present weights") {
  const Device device = Device::opencl(0);
  test::WithConvPolicy policy({TuneMode::off});
  Workspace& workspace = Device::cpu().workspace();
  workspace.set_limit({});
  const Tensor x = random_tensor({2, 64, 14, 14}, 1, device);
  Tensor filter = random_tensor({64, 64, 3, 3}, 2, device);
  const Conv2d conv{.padding = {1, 1}};
  Tensor y(x.shape(), DType::f32, device);
  float* held = filter.mutable_data<float>();
  for (int i = 0; i < 3; ++i) conv2d(x, filter, nullptr, conv, y);
  CHECK(workspace.kept_bytes() > 0);
  held[0] = 9;
  conv2d(x, filter, nullptr, conv, y);
  Tensor fresh(x.shape(), DType::f32, device);
  conv2d(x, filter.clone(), nullptr, conv, fresh);
  CHECK(y.to_vector() == fresh.to_vector());
  workspace.set_limit({});
}

TEST_CASE("workspace that the device refuses costs no block, and is not asked for in vain") {
  constexpr uint64_t kMiB = 1 << 20;
  test::BareBackend& backend = test::bare_backend();
  Workspace& workspace = Device::opencl(0).workspace();
  MemoryPool& pool = Device::opencl(0).memory();
  workspace.set_limit({});
  pool.trim();
  Tensor weights({kMiB}, DType::u8, Device::opencl(0));
  weights.buffer().on_device(Access::write);
  workspace.reserve(kMiB);
  REQUIRE(workspace.size() == kMiB);
  const auto iterate = [&] {
    for (uint64_t bytes : {2 * kMiB, 4 * kMiB}) workspace.register_size(bytes);
    workspace.end_iteration();
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
  CHECK(workspace.size() == 4 * kMiB);  // others may have given it back
  workspace.set_limit({});
  workspace.reserve(kMiB);
  backend.refused_from = 2 * kMiB;
  CHECK(iterate() == kMiB);
  backend.refused_from = UINT64_MAX;
  CHECK(iterate() == kMiB);
  const int before = backend.allocations;
  weights = Tensor();
  pool.trim();
  CHECK(iterate() == 4 * kMiB);
  workspace.register_size(test::kBareLargest + 1);  // an error, if it were asked for
  CHECK(iterate() == 4 * kMiB);
  CHECK(backend.allocations == before + 1);
  workspace.set_limit({});
}

TEST_CASE("the limit of one buffer is for the block and for each filter kept, not for their sum") {
  test::BareBackend& backend = test::bare_backend();
  const Device device = Device::opencl(0);
  Workspace& workspace = device.workspace();
  workspace.set_limit({});
  workspace.reserve(test::kBareLargest);
  REQUIRE(workspace.size() == test::kBareLargest);
  const auto keep = [&](const Tensor& source) {
    const Kept::Form form{&backend, 0, source.bytes()};
    workspace.keep(source, form, [](Tensor&) {});
    return workspace.keep(source, form, [](Tensor&) {}).memory.defined();
  };
  const Tensor filter({1000}, DType::u8, device);
  CHECK(keep(filter));
  CHECK(workspace.size() == test::kBareLargest);
  CHECK(workspace.kept_bytes() == 1000);
  workspace.set_limit({});
  CHECK(keep(filter));
  workspace.reserve(test::kBareLargest);
  CHECK(workspace.size() == test::kBareLargest);
  CHECK(workspace.kept_bytes() == 1000);  // did not have to go for it
  workspace.set_limit({});
}

TEST_CASE("workspace for a trial lies beside the block, in what the device has") {
  constexpr uint64_t kMiB = 1 << 20;
  const Device device = Device::opencl(0);
  Workspace& workspace = device.workspace();
  device.memory().trim();
  workspace.set_limit({});
  workspace.reserve(40 * kMiB);
  REQUIRE(workspace.size() == 40 * kMiB);
  std::vector<Tensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.emplace_back(Shape{56 * kMiB}, DType::u8, device);
  CHECK(workspace.try_out(48 * kMiB).memory.defined());
  CHECK_FALSE(workspace.try_out(49 * kMiB).memory.defined());  // 256 - 3 * 56 - 40
  CHECK(workspace.size() == 40 * kMiB);
  workspace.set_limit({});
  tensors.clear();
  device.memory().trim();
}

TEST_CASE("a solver that finds no memory to pool in the same pass leaves the pooling to a second") {
  class Short : public ScaleSolver {
   public:
    bool pools(const ConvProblem&) const override { return true; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      if (!args.pool) return ScaleSolver::run(p, args);
      ++refused;
      throw std::bad_alloc();
    }
    mutable int refused = 0;
  };
  test::BareBackend& backend = test::bare_backend();
  const Short solver;
  backend.operations = {Op::convolution};
  backend.solvers = {&solver};
  test::WithConvPolicy policy({TuneMode::off});
  const Tensor x = random_tensor({2, 1, 4, 4}, 1, Device::opencl(0));
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 2, Device::opencl(0));
  Device::opencl(0).workspace().reserve(solver.workspace_bytes({}));
  Tensor y, indices, expected({2, 1, 2, 2}), places({2, 1, 2, 2}, DType::i32);
  conv2d_max_pool(x, filter, nullptr, {}, {}, y, &indices);
  CHECK(y.device() == Device::opencl(0));
  CHECK(solver.refused == 1);
  CHECK(solver.runs == 1);
  max_pool2d(multiply(x.to(Device::cpu()), Tensor::full({1}, 2)), {}, expected, places);
  CHECK(y.to_vector() == expected.to_vector());
  CHECK(indices.to_vector<int32_t>() == places.to_vector<int32_t>());
  backend.solvers.clear();
  backend.operations.clear();
  Device::opencl(0).workspace().set_limit({});
  Tensor made;  // the CPU pools in the same pass
  conv2d_max_pool(x, filter, nullptr, {}, {}, made, nullptr);
  CHECK(made.device() == Device::opencl(0));
  CHECK(made.to_vector() == expected.to_vector());
}

TEST_CASE("a solver that computes wrong values is measured and not used") {
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
  backend.operations = {Op::convolution};
  backend.solvers = {&wrong, &right};
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, Device::opencl(0));
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 3, Device::opencl(0));
  Tensor y(x.shape(), DType::f32, Device::opencl(0));
  std::string warned;
  set_log_sink([&](LogLevel, std::string_view text) { warned += text; });
  test::WithConvPolicy policy({TuneMode::exhaustive});
  conv2d(x, filter, nullptr, {}, y);
  const auto results = conv_results(backend, conv_problem(x.shape(), filter.shape(), {}));
  REQUIRE(results.size() == 2);
  CHECK(results[0] == TuningResult{"wrong", kWrongMilliseconds, 12});
  CHECK(results[1].candidate == "scale");
  CHECK(results[1].milliseconds < 1000);
  CHECK(results[1].workspace == 12);
  set_log_sink({});
  MemoryPool& pool = Device::opencl(0).memory();
  Tensor other(y.shape(), DType::f32, Device::opencl(0));
  other.buffer().on_device(Access::write);
  pool.trim();
  Device::opencl(0).workspace().set_limit({});
  pool.set_budget(pool.account().in_use);
  CHECK_THROWS_AS(conv2d(x, filter, nullptr, {}, other), OutOfMemory);  // nor where none has room
  pool.set_budget({});
  CHECK(warned.find("wrong computes wrong values for n2c1h3w3k1r1s1") != std::string::npos);
  test::check_close(y, test::doubles(multiply(x.to(Device::cpu()), Tensor::full({1}, 3))), 0);
  backend.solvers.clear();
  backend.operations.clear();
  forget_convolutions();
}

TEST_CASE(
    "a solver that is slow at first, as one that builds kernels, is measured when it is warm") {
  class LateBloomer : public ScaleSolver {
   public:
    std::string_view name() const override { return "late"; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      if (runs == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      ScaleSolver::run(p, args);
    }
  };
  class Steady : public ScaleSolver {
   public:
    std::string_view name() const override { return "steady"; }
    void run(const ConvProblem& p, const ConvArgs& args) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ScaleSolver::run(p, args);
    }
  };
  test::CacheFolder folder("late");
  test::BareBackend& backend = test::bare_backend();
  const LateBloomer late;
  const Steady steady;
  backend.operations = {Op::convolution};
  const Tensor x = random_tensor({2, 1, 3, 3}, 1, Device::opencl(0));
  const Tensor filter = Tensor::full({1, 1, 1, 1}, 3, Device::opencl(0));
  Tensor y(x.shape(), DType::f32, Device::opencl(0));
  for (bool first : {true, false}) {
    late.runs = 0;
    backend.solvers = first ? std::vector<const ConvSolver*>{&late, &steady}
                            : std::vector<const ConvSolver*>{&steady, &late};
    test::WithConvPolicy policy({TuneMode::exhaustive});
    conv2d(x, filter, nullptr, {}, y);
    CHECK(late.runs >= 5);
    const auto results = conv_results(backend, conv_problem(x.shape(), filter.shape(), {}));
    REQUIRE(results.size() == 2);
    for (const TuningResult& result : results)
      CHECK((result.candidate == "late") == (result.milliseconds < 10));
  }
  backend.solvers.clear();
  backend.operations.clear();
  forget_convolutions();
}

TEST_CASE("a device's memory is counted and limited by its pool from the first") {
  MemoryPool& pool = Device::opencl(0).memory();
  pool.trim();
  const uint64_t before = pool.account().in_use;
  Tensor x({1 << 18}, DType::f32, Device::opencl(0));
  CHECK(pool.account().in_use == before + (1 << 20));
  pool.set_budget(pool.account().in_use);
  CHECK_THROWS_AS(Tensor({1 << 18}, DType::f32, Device::opencl(0)), OutOfMemory);
  pool.set_budget({});
}

}  // namespace kaiseki
