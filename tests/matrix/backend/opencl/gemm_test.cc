// SPDX-License-Identifier: MIT
// Every candidate for matrix products against sums in double: transposes, odd sizes, batches,
// strides and epilogues. Also the choice among candidates.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "matrix/backend/opencl/clblast.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/tune/file.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/io/damage.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::opencl {
namespace {

struct Case {
  int64_t m, n, k, batch;
  bool shared_a, shared_b;  // batch stride 0
};

/// Chooses as the backend does, and measures if necessary.
const GemmCandidate& chosen_gemm(OpenclDevice& device, const GemmArgs& args) {
  const GemmCandidate* known = gemm_for(device, args);
  return known ? *known : measure_gemm(device, args);
}

constexpr Case kCases[] = {{1, 1, 1, 1, false, false},     {7, 5, 3, 1, false, false},
                           {13, 70, 9, 2, true, false},    {6, 64, 1, 3, false, true},
                           {50, 33, 401, 1, false, false}, {3, 130, 20, 1, false, false}};

struct Data {
  GemmArgs args;
  Tensor a, b, c, bias;

  /// `gap`: leading dimensions are longer than the rows.
  Data(const Case& s, bool trans_a, bool trans_b, Device device, int64_t gap = 3) {
    args.trans_a = trans_a;
    args.trans_b = trans_b;
    args.m = s.m;
    args.n = s.n;
    args.k = s.k;
    args.batch = s.batch;
    args.lda = (trans_a ? s.m : s.k) + gap;
    args.ldb = (trans_b ? s.k : s.n) + gap;
    args.ldc = s.n + gap;
    int64_t size_a = args.lda * (trans_a ? s.k : s.m), size_b = args.ldb * (trans_b ? s.n : s.k);
    args.stride_a = s.shared_a ? 0 : size_a;
    args.stride_b = s.shared_b ? 0 : size_b;
    args.stride_c = args.ldc * s.m;
    a = test::random_tensor(Shape{size_a * s.batch}, 1, device);
    b = test::random_tensor(Shape{size_b * s.batch}, 2, device);
    c = test::random_tensor(Shape{args.stride_c * s.batch}, 3, device);
    bias = test::random_tensor(Shape{std::max(s.m, s.n)}, 4, device);
    args.a = &a;
    args.b = &b;
    args.c = &c;
  }

  test::Doubles expected() const {
    test::Doubles left = test::doubles(a), right = test::doubles(b), out = test::doubles(c),
                  shift = test::doubles(bias);
    for (int64_t batch = 0; batch < args.batch; ++batch)
      for (int64_t i = 0; i < args.m; ++i)
        for (int64_t j = 0; j < args.n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < args.k; ++p)
            sum +=
                left[batch * args.stride_a + (args.trans_a ? p * args.lda + i : i * args.lda + p)] *
                right[batch * args.stride_b + (args.trans_b ? j * args.ldb + p : p * args.ldb + j)];
          double& value = out[batch * args.stride_c + i * args.ldc + j];
          value = args.alpha * sum + args.beta * value;
          if (args.bias_kind != GemmArgs::Bias::none)
            value += shift[args.bias_kind == GemmArgs::Bias::per_row ? i : j];
          if (args.activation == Activation::relu) value = std::max(0.0, value);
          if (args.activation == Activation::leaky_relu && value < 0) value *= args.slope;
          if (args.activation == Activation::sigmoid) value = 1 / (1 + std::exp(-value));
          if (args.activation == Activation::tanh) value = std::tanh(value);
        }
    return out;
  }
};

/// For products of k numbers below 1: 1e-7 for each addition, and the epilogue.
double bound(const GemmArgs& args) { return 1e-6 + 1e-7 * static_cast<double>(args.k); }

void for_each_candidate(OpenclBackend& backend,
                        const std::function<void(const GemmCandidate&)>& body) {
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend.opencl(), style);
    for (auto& candidate : gemm_candidates(style)) {
      if (candidate.name.starts_with("few ")) continue;  // gemm_thin_test.cc tests them
      INFO(std::string(candidate.name));
      body(candidate);
    }
  }
}

/// All tiles share one source, so the larger ones run fewer cases. Each takes seconds to compile.
bool is_large_tile(const GemmCandidate& candidate) {
  return candidate.name.starts_with("tiled") && candidate.name != "tiled 32";
}

}  // namespace

TEST_CASE("opencl gemm: every candidate, transposed or not, on odd sizes") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for_each_candidate(*backend, [&](const GemmCandidate& candidate) {
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true})
        for (const Case& s : kCases) {
          if (is_large_tile(candidate) && trans_a != trans_b) continue;
          Data data(s, trans_a, trans_b, Device::opencl(0));
          data.args.alpha = 0.5f;
          data.args.beta = s.m == 7 ? 0.0f : 0.25f;
          if (!candidate.applicable(backend->opencl(), data.args)) continue;
          INFO("m ", s.m, " n ", s.n, " k ", s.k, " transposed ", trans_a, trans_b);
          test::Doubles expected = data.expected();
          candidate.run(backend->opencl(), data.args);
          test::check_close(data.c, expected, 0, bound(data.args));
        }
  });
}

TEST_CASE("opencl gemm: tiles of whole vectors, and of parts of them at the edges") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::WithStyle with(backend->opencl(), Style::gpu);
  int ran = 0;
  for (const GemmCandidate& candidate : gemm_candidates(Style::gpu)) {
    if (!candidate.name.starts_with("tiled")) continue;
    for (bool transposed : {false, true}) {
      // The second case of each has terms for several parts.
      for (const Case& s :
           {Case{132, 72, 44, 2, false, false}, Case{68, 136, 900, 1, false, false}}) {
        Data data(s, transposed, transposed, Device::opencl(0), 4);
        data.args.bias = &data.bias;
        data.args.bias_kind = GemmArgs::Bias::per_column;
        data.args.beta = 0.25f;
        if (!candidate.applicable(backend->opencl(), data.args)) continue;
        INFO(std::string(candidate.name), " m ", s.m, " transposed ", transposed);
        const test::Doubles expected = data.expected();
        candidate.run(backend->opencl(), data.args);
        test::check_close(data.c, expected, 0, bound(data.args));
        ++ran;
      }
    }
  }
  CHECK(ran >= 18);
}

TEST_CASE("opencl gemm: f64 by both kernels, transposed or not, on odd sizes") {
  auto* backend = test::opencl_or_null();
  if (!backend || !backend->holds(DType::f64)) return;
  std::vector<Case> cases(std::begin(kCases), std::end(kCases));
  cases.push_back({129, 67, 37, 2, false, false});  // parts of several tiles
  for (const auto run : {gemm_f64, gemm_direct})
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true})
        for (const Case& s : cases) {
          Data data(s, trans_a, trans_b, Device::opencl(0));
          for (Tensor* t : {&data.a, &data.b, &data.c}) *t = cast(*t, DType::f64);
          data.args.alpha = 0.3;
          data.args.beta = s.m == 7 ? 0 : 0.7;
          INFO("m ", s.m, " n ", s.n, " k ", s.k, " transposed ", trans_a, trans_b);
          test::Doubles expected = data.expected();
          run(backend->opencl(), data.args);
          // Both sides round each of k + 2 additions. The sums are below k + 2.
          const auto k = static_cast<double>(s.k + 2);
          test::check_close(data.c, expected, 0, 0x1p-53 * k * k);
        }
}

TEST_CASE("opencl gemm: every epilogue of every candidate") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for_each_candidate(*backend, [&](const GemmCandidate& candidate) {
    if (is_large_tile(candidate) && candidate.name != "tiled 64 in parts") return;
    for (int i = 0; i < 5; ++i) {
      Data data({13, 21, 300, 1, false, false}, false, false, Device::opencl(0));
      data.args.bias_kind = static_cast<GemmArgs::Bias>(i % 3);
      data.args.bias = &data.bias;
      data.args.activation = static_cast<Activation>(i);
      data.args.slope = 0.1f;
      if (!candidate.applicable(backend->opencl(), data.args)) continue;
      INFO("epilogue ", i);
      test::Doubles expected = data.expected();
      candidate.run(backend->opencl(), data.args);
      test::check_close(data.c, expected, 0, bound(data.args));
    }
  });
}

TEST_CASE("opencl gemm: products without terms") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  Data data({3, 4, 5, 1, false, false}, false, false, Device::opencl(0));
  data.args.k = 0;
  data.args.beta = 0.5f;
  test::Doubles expected = data.expected();
  backend->run(kGemm, data.args);
  test::check_close(data.c, expected, 0, 1e-6);
  data.args.m = 0;
  backend->run(kGemm, data.args);
  test::check_close(data.c, expected, 0, 1e-6);
}

TEST_CASE("opencl gemm: a known choice is found without an allocation, until choices change") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDevice& device = backend->opencl();
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(device, style);
    test::CacheFolder folder("gemm_known");
    forget_measurements();
    Data data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
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
  Data data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
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
                Data({70, 65, 50, 3, false, false}, true, false, Device::opencl(0)).args) ==
            (style == Style::gpu));
      Data data({m, n, k, batch, false, false}, true, false, Device::opencl(0));
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
  Data data({30, 20, 10, 2, false, false}, false, false, Device::opencl(0));
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
  Data data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
  const std::string other(gemm_candidates(device.style())[2].name);
  for (TuneMode mode : {TuneMode::off, TuneMode::cached}) {
    test::CacheFolder folder("gemm_policy");
    test::WithTunePolicy policy({mode});
    const GemmCandidate* guess = gemm_for(device, data.args);
    REQUIRE(guess != nullptr);
    CHECK(guess->name == gemm_candidates(device.style())[0].name);
    remember_tuning(gemm_key(device, data.args), {{other, 1e-6}});
    forget_measurements();
    const bool looks = mode == TuneMode::cached;
    CHECK((gemm_for(device, data.args)->name == other) == looks);
  }
  for (TuneMode mode : {TuneMode::hybrid, TuneMode::exhaustive, TuneMode::amortized}) {
    test::CacheFolder folder("gemm_policy");
    test::WithTunePolicy policy({mode});
    CHECK(gemm_for(device, data.args) == nullptr);
    Data small({5, 6, 7, 1, false, false}, false, false, Device::opencl(0));
    CHECK((gemm_for(device, small.args) == nullptr) == (mode == TuneMode::exhaustive));
  }
  // CLBlast adds in another order. With it, the bits would depend on whether it is installed.
  test::CacheFolder folder("gemm_deterministic");
  test::WithTunePolicy policy({TuneMode::hybrid, true});
  Data large({800, 265, 500, 1, false, false}, true, false, Device::opencl(0));
  CHECK(gemm_key(device, large.args).which.find("clblast") == std::string::npos);
  CHECK(chosen_gemm(device, large.args).is_own);
}

TEST_CASE("opencl gemm: without room for measuring or packing, the product is still computed") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_room");
  forget_measurements();
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
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
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  Data small({70, 65, 128, 1, false, false}, false, false, Device::opencl(0));
  for (const Data* d : {&data, &small})
    for (const Tensor* t : {&d->a, &d->b, &d->c}) t->buffer().on_device(Access::read);
  Allocator& allocator = Device::opencl(0).memory();
  Workspace& workspace = Device::opencl(0).workspace();
  workspace.set_limit({});
  allocator.trim();
  constexpr uint64_t kRoom = 1 << 20;
  allocator.set_budget(allocator.account().in_use + kRoom);
  workspace.reserve(kRoom);
  REQUIRE(workspace.size() == kRoom);
  std::thread other;
  {
    const Workspace::HeldBlock use = workspace.use(kRoom);
    other = std::thread([&] { chosen_gemm(backend->opencl(), data.args); });
    // Simulates work. The other thread waits for the workspace, which cannot be seen from here.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
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
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
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

TEST_CASE("opencl gemm: the library's candidates add in one order, so the choice changes no bits") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const Case& s : {Case{20, 30, 300, 4, false, false}, Case{13, 21, 900, 4, false, false}}) {
      std::vector<float> first;
      int compared = 0;
      for (auto& candidate : gemm_candidates(style)) {
        Data data(s, false, false, Device::opencl(0));
        if (!candidate.is_own || !candidate.applicable(backend->opencl(), data.args)) continue;
        INFO(std::string(candidate.name), " k ", s.k);
        candidate.run(backend->opencl(), data.args);
        if (first.empty()) first = data.c.to_vector();
        CHECK(data.c.to_vector() == first);
        ++compared;
      }
      CHECK(compared >= 3);
    }
  }
}

TEST_CASE("opencl gemm: a device with small work-groups has a candidate for every size") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  OpenclDeviceProperties facts = backend->opencl().facts();
  facts.max_work_group = 32;
  OpenclDevice small(backend->opencl().index(), facts);
  small.set_style(Style::gpu);
  Data data({200, 200, 200, 1, false, false}, false, false, Device::opencl(0));
  int applicable = 0;
  for (auto& candidate : gemm_candidates(Style::gpu))
    if (candidate.name != "clblast" && candidate.applicable(small, data.args)) {
      CHECK((candidate.run == gemm_direct));
      ++applicable;
    }
  CHECK(applicable == 1);
}

TEST_CASE("opencl gemm: more rows and matrices than work-groups in a dimension of a launch") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const size_t most = backend->opencl().most_groups();
  backend->opencl().set_most_groups(2);
  for_each_candidate(*backend, [&](const GemmCandidate& candidate) {
    Data data({300, 260, 5, 5, true, false}, false, false, Device::opencl(0));
    if (candidate.name == "clblast" || !candidate.applicable(backend->opencl(), data.args)) return;
    test::Doubles expected = data.expected();
    candidate.run(backend->opencl(), data.args);
    test::check_close(data.c, expected, 0, bound(data.args));
  });
  backend->opencl().set_most_groups(most);
}

}  // namespace kaiseki::opencl
