// SPDX-License-Identifier: MIT
// The choice among the candidates for a product: by measurements, and within the memory.
#include "matrix/backend/opencl/gemm_choice.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "matrix/backend/opencl/clblast.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/tune/file.h"
#include "tests/matrix/backend/opencl/gemm_product.h"
#include "tests/nn/io/damage.h"
#include "tests/support/tune_policy.h"
#include "tests/support/wait_until.h"

namespace kaiseki::opencl {
namespace {

const GemmCandidate& chosen_gemm(OpenclDevice& device, const GemmArgs& args) {
  const GemmCandidate* known = gemm_for(device, args);
  return known ? *known : measure_gemm(device, args);
}

}  // namespace

TEST_CASE("opencl gemm: a known choice is found without an allocation, until choices change") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice& device = backend->opencl();
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(device, style);
    test::CacheFolder folder("gemm_known");
    forget_measurements();
    Product data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
    const GemmCandidate& chosen = chosen_gemm(device, data.args);
    CHECK(gemm_for(device, data.args) == &chosen);
    test::reset_largest_allocation();
    const GemmCandidate* known = gemm_for(device, data.args);
    CHECK(test::largest_allocation() == 0);
    CHECK(known == &chosen);
    forget_measurements();
    std::filesystem::remove(folder.path() / "tuning.jsonl");
    CHECK(gemm_for(device, data.args) == nullptr);
  }
}

TEST_CASE("opencl gemm: a choice is measured once and remembered on disk") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_choice");
  forget_measurements();
  OpenclDevice& device = backend->opencl();
  Product data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
  const TuningKey key = gemm_key(device, data.args);
  CHECK(key.which.starts_with("nt m7 n6 k6 b0"));
  CHECK(key.threads == (device.facts().is_gpu ? 0 : device.facts().compute_units));
  CHECK(gemm_for(device, data.args) == nullptr);
  const GemmCandidate& chosen = chosen_gemm(device, data.args);
  std::vector<TuningResult> kept = recall_tuning(key);
  CHECK(kept.size() >= 2);  // all candidates that apply
  CHECK(std::ranges::find(kept, chosen.name, &TuningResult::candidate) != kept.end());
  CHECK(gemm_for(device, data.args) == &chosen);

  for (TuningResult& result : kept) result.milliseconds = result.candidate == "packed 6x16" ? 1 : 2;
  remember_tuning(key, kept);
  CHECK(gemm_for(device, data.args) == &chosen);  // the file is read once
  forget_measurements();
  if (device.style() == Style::cpu) CHECK(chosen_gemm(device, data.args).name == "packed 6x16");

  std::ofstream(folder.path() / "tuning.jsonl") << "{\"device\":\n\0garbage}\n{}";
  forget_measurements();
  CHECK(recall_tuning(key).empty());
  test::Doubles expected = data.expected();
  backend->run(kGemm, data.args);
  test::check_close(data.c, expected, 0, bound(data.args));
  CHECK(!recall_tuning(key).empty());
  forget_measurements();
}

TEST_CASE("opencl gemm: CLBlast is a candidate if it is installed, and otherwise not") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  CHECK(has_clblast() == (library != nullptr));
  if (!library) {
    MESSAGE("without libclblast.so.1");
    return;
  }
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    int found = 0;
    for (auto& candidate : gemm_candidates(style)) {
      if (candidate.name != "clblast") continue;
      ++found;
      // CLBlast applies on CPUs only to large products, and not to batches.
      const bool cpu = style == Style::cpu;
      const int64_t m = cpu ? 800 : 70, n = 265, k = cpu ? 500 : 50, batch = cpu ? 1 : 3;
      CHECK(candidate.applicable(
                backend->opencl(),
                Product({70, 65, 50, 3, false, false}, true, false, Device::opencl(0)).args) ==
            (style == Style::gpu));
      Product data({m, n, k, batch, false, false}, true, false, Device::opencl(0));
      CHECK(candidate.applicable(backend->opencl(), data.args));
      data.c = Tensor::zeros(Shape{batch * m * n}, DType::f32, Device::opencl(0));
      data.args.ldc = n;
      data.args.stride_c = m * n;
      data.args.bias = &data.bias;
      data.args.bias_kind = GemmArgs::Bias::per_row;
      data.args.activation = Activation::leaky_relu;
      test::Doubles expected = data.expected();
      fill(data.c, std::nanf(""));  // with beta 0, C must not be read
      test::CacheFolder folder("clblast");
      const auto timed = time_gemm(backend->opencl(), data.args, {&candidate});
      REQUIRE(timed.size() == 1);
      CHECK(timed[0].outcome == TuningOutcome::timed);
      CHECK(gemm_key(backend->opencl(), data.args).which.ends_with(" clblast"));
      candidate.run(backend->opencl(), data.args);
      test::check_close(data.c, expected, 0, bound(data.args));
      Allocator& allocator = Device::opencl(0).memory();
      allocator.set_budget(uint64_t{1} << 40);
      // Its memory is not counted in the budget.
      CHECK_FALSE(candidate.applicable(backend->opencl(), data.args));
      allocator.set_budget({});
    }
    CHECK(found == 1);
  }
}

TEST_CASE("opencl gemm: unwritten values count as wrong, and failing candidates are excluded") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_wrong");
  constexpr GemmCandidate kDirect = {"direct", [](OpenclDevice&, const GemmArgs&) { return true; },
                                     gemm_direct};
  constexpr GemmCandidate kIdle = {"idle", kDirect.applicable,
                                   [](OpenclDevice&, const GemmArgs&) {}};
  constexpr GemmCandidate kFirstOnly = {"first only", kDirect.applicable,
                                        [](OpenclDevice& device, const GemmArgs& args) {
                                          GemmArgs one = args;
                                          one.batch = 1;
                                          gemm_direct(device, one);
                                        }};
  constexpr GemmCandidate kBroken = {
      "broken", kDirect.applicable,
      [](OpenclDevice&, const GemmArgs&) { throw DeviceError("[gemm] broken"); }};
  static int runs = 0;
  runs = 0;
  constexpr GemmCandidate kFailsLater = {"fails later", kDirect.applicable,
                                         [](OpenclDevice& device, const GemmArgs& args) {
                                           if (runs++) throw DeviceError("[gemm] later");
                                           gemm_direct(device, args);
                                         }};
  constexpr GemmCandidate kRefused = {
      "refused", kDirect.applicable,
      [](OpenclDevice&, const GemmArgs&) { throw KernelError("[gemm] refused"); }};
  Product data({30, 20, 10, 2, false, false}, false, false, Device::opencl(0));
  const auto results =
      time_gemm(backend->opencl(), data.args,
                {&kFailsLater, &kBroken, &kRefused, &kDirect, &kIdle, &kFirstOnly});
  REQUIRE(results.size() == 4);
  CHECK(results[0] == TuningResult{"refused", 0, 0, TuningOutcome::refused});
  CHECK(results[1].candidate == "direct");
  CHECK(results[1].outcome == TuningOutcome::timed);
  CHECK(results[2] == TuningResult{"idle", 0, 0, TuningOutcome::wrong});
  CHECK(results[3] == TuningResult{"first only", 0, 0, TuningOutcome::wrong});
}

TEST_CASE("opencl gemm: the tuner's policy decides whether products are measured") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice& device = backend->opencl();
  Product data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
  const std::string other(gemm_candidates(device.style())[2].name);
  for (TuneMode mode : {TuneMode::off, TuneMode::cached}) {
    test::CacheFolder folder("gemm_policy");
    test::WithTunePolicy policy({mode});
    const GemmCandidate* guess = gemm_for(device, data.args);
    REQUIRE(guess != nullptr);
    const auto first = std::ranges::find_if(
        gemm_candidates(device.style()),
        [&](const GemmCandidate& one) { return one.applicable(device, data.args); });
    CHECK(guess->name == first->name);
    remember_tuning(gemm_key(device, data.args), {{other, 1e-6}});
    forget_measurements();
    const bool looks = mode == TuneMode::cached;
    CHECK((gemm_for(device, data.args)->name == other) == looks);
  }
  for (TuneMode mode : {TuneMode::hybrid, TuneMode::exhaustive, TuneMode::amortized}) {
    test::CacheFolder folder("gemm_policy");
    test::WithTunePolicy policy({mode});
    CHECK(gemm_for(device, data.args) == nullptr);
    Product small({5, 6, 7, 1, false, false}, false, false, Device::opencl(0));
    CHECK((gemm_for(device, small.args) == nullptr) == (mode == TuneMode::exhaustive));
  }
  // CLBlast adds in another order. With it, the bits would depend on whether it is installed.
  test::CacheFolder folder("gemm_deterministic");
  test::WithTunePolicy policy({TuneMode::hybrid, true});
  Product large({800, 265, 500, 1, false, false}, true, false, Device::opencl(0));
  CHECK(gemm_key(device, large.args).which.find("clblast") == std::string::npos);
  CHECK(chosen_gemm(device, large.args).is_own);
}

TEST_CASE("opencl gemm: without room for measuring or packing, the product is still computed") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_room");
  forget_measurements();
  Product data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  test::Doubles expected = data.expected();
  Allocator& allocator = Device::opencl(0).memory();
  for (const Tensor* t : {&data.a, &data.b, &data.c, &data.bias})
    t->buffer().on_device(Access::read);
  allocator.trim();
  allocator.set_budget(allocator.account().in_use);
  CHECK(chosen_gemm(backend->opencl(), data.args).name != "clblast");
  CHECK(recall_tuning(gemm_key(backend->opencl(), data.args)).empty());
  backend->run(kGemm, data.args);
  allocator.set_budget({});
  test::check_close(data.c, expected, 0, bound(data.args));
}

TEST_CASE("opencl gemm: measuring waits for the memory of a convolution that is measuring too") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_waits");
  forget_measurements();
  Product data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  Product small({70, 65, 128, 1, false, false}, false, false, Device::opencl(0));
  for (const Product* d : {&data, &small})
    for (const Tensor* t : {&d->a, &d->b, &d->c}) t->buffer().on_device(Access::read);
  Allocator& allocator = Device::opencl(0).memory();
  Workspace& workspace = Device::opencl(0).workspace();
  workspace.set_limit({});
  allocator.trim();
  constexpr uint64_t kRoom = 1 << 20;
  Tensor({1}, DType::u8, Device::opencl(0));  // its block stays in the cache
  const MemoryAccount account = allocator.account();
  REQUIRE(account.cached > 0);
  allocator.set_budget(account.in_use + account.cached + kRoom);
  workspace.reserve(kRoom);
  REQUIRE(workspace.size() == kRoom);
  std::thread other;
  {
    const Workspace::HeldBlock use = workspace.use(kRoom);
    other = std::thread([&] { chosen_gemm(backend->opencl(), data.args); });
    // The allocator frees its cache just before it waits for the workspace.
    CHECK(test::wait_until([&] { return allocator.account().cached == 0; }));
    chosen_gemm(backend->opencl(), small.args);
  }
  other.join();
  CHECK(recall_tuning(gemm_key(backend->opencl(), data.args)).size() >= 2);
  allocator.set_budget({});
  workspace.set_limit({});
  forget_measurements();
}

TEST_CASE("opencl gemm: if packing runs out of memory, C is added to only once") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_half_room");
  forget_measurements();
  Product data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  data.args.beta = 0.5f;
  test::Doubles expected = data.expected();
  for (const Tensor* t : {&data.a, &data.b, &data.c, &data.bias})
    t->buffer().on_device(Access::read);
  Allocator& allocator = Device::opencl(0).memory();
  allocator.trim();
  const uint64_t one_factor = 160 * 160 * sizeof(float);
  allocator.set_budget(allocator.account().in_use + one_factor);
  backend->run(kGemm, data.args);
  allocator.set_budget({});
  test::check_close(data.c, expected, 0, bound(data.args));
}

}  // namespace kaiseki::opencl
