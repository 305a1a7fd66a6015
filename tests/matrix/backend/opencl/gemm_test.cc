// SPDX-License-Identifier: MIT
// Every candidate of matrix products against sums in double: transposes, odd sizes, batches,
// strides, epilogues; and the choice among them.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "matrix/backend/opencl/clblast.h"
#include "matrix/backend/opencl/gemm_choice.h"
#include "matrix/error.h"
#include "matrix/memory/pool.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/tuning_file.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/support/reference.h"

namespace kaiseki::opencl {
namespace {

struct Case {
  int64_t m, n, k, batch;
  bool shared_a, shared_b;  // batch stride 0
};

constexpr Case kCases[] = {{1, 1, 1, 1, false, false},     {7, 5, 3, 1, false, false},
                           {13, 70, 9, 2, true, false},    {6, 64, 1, 3, false, true},
                           {50, 33, 401, 1, false, false}, {3, 130, 20, 1, false, false}};

struct Data {
  GemmArgs args;
  Tensor a, b, c, bias;

  Data(const Case& s, bool trans_a, bool trans_b, Device device) {
    int64_t gap = 3;  // leading dimensions are longer than the rows
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

/// Products of numbers below 1 and k of them: 1e-7 for each addition, and the epilogue.
double bound(const GemmArgs& args) { return 1e-6 + 1e-7 * static_cast<double>(args.k); }

void for_each_candidate(OpenclBackend& backend,
                        const std::function<void(const GemmCandidate&)>& body) {
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend.opencl(), style);
    for (auto& candidate : gemm_candidates(style)) {
      INFO(std::string(candidate.name));
      body(candidate);
    }
  }
}

}  // namespace

TEST_CASE("opencl gemm: every candidate, transposed or not, on odd sizes") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for_each_candidate(*backend, [&](const GemmCandidate& candidate) {
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true})
        for (const Case& s : kCases) {
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

TEST_CASE("opencl gemm: every epilogue of every candidate") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for_each_candidate(*backend, [&](const GemmCandidate& candidate) {
    for (int i = 0; i < 5; ++i) {
      Data data({13, 21, 8, 1, false, false}, false, false, Device::opencl(0));
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

TEST_CASE("opencl gemm: nothing to multiply") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  Data data({3, 4, 5, 1, false, false}, false, false, Device::opencl(0));
  data.args.k = 0;
  data.args.beta = 0.5f;
  test::Doubles expected = data.expected();
  backend->gemm(data.args);
  test::check_close(data.c, expected, 0, 1e-6);
  data.args.m = 0;
  backend->gemm(data.args);
  test::check_close(data.c, expected, 0, 1e-6);
}

TEST_CASE("opencl gemm: a choice is measured once and remembered on disk") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_choice");
  forget_gemm_choices();
  OpenclDevice& device = backend->opencl();
  Data data({130, 70, 120, 1, false, false}, false, true, Device::opencl(0));
  const TuningKey key = gemm_key(device, data.args);
  CHECK(key.which.starts_with("nt m7 n6 k6 b0"));
  CHECK(key.threads == (device.facts().is_gpu ? 0 : device.facts().compute_units));
  const GemmCandidate& chosen = choose_gemm(device, data.args);
  REQUIRE(recall_tuning(key).size() == 1);
  CHECK(recall_tuning(key)[0].candidate == chosen.name);

  remember_tuning(key, {{"direct", 1}});
  CHECK(&choose_gemm(device, data.args) == &chosen);
  remember_tuning(key, {{"packed 6x16", 1}});
  forget_gemm_choices();
  if (device.style() == Style::cpu) CHECK(choose_gemm(device, data.args).name == "packed 6x16");

  std::ofstream(folder.path() / "tuning.jsonl") << "{\"device\":\n\0garbage}\n{}";
  forget_gemm_choices();
  CHECK(recall_tuning(key).empty());
  test::Doubles expected = data.expected();
  backend->gemm(data.args);
  test::check_close(data.c, expected, 0, bound(data.args));
  CHECK(!recall_tuning(key).empty());
  forget_gemm_choices();
}

TEST_CASE("opencl gemm: CLBlast takes part where it is installed, and only there") {
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
      // On CPUs only for large products, and not for batches.
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
      fill(data.c, std::nanf(""));  // which beta 0 must not read
      test::CacheFolder folder("clblast");
      CHECK(measure_gemm(backend->opencl(), data.args, {&candidate, 1}).name == "clblast");
      CHECK(gemm_key(backend->opencl(), data.args).which.ends_with(" clblast"));
      candidate.run(backend->opencl(), data.args);
      test::check_close(data.c, expected, 0, bound(data.args));
      MemoryPool& pool = Device::opencl(0).memory();
      pool.set_budget(uint64_t{1} << 40);
      CHECK_FALSE(candidate.applicable(backend->opencl(), data.args));  // its memory is not counted
      pool.set_budget({});
    }
    CHECK(found == 1);
  }
}

TEST_CASE("opencl gemm: what a candidate does not write is wrong, what fails is left out") {
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
  const GemmCandidate all[] = {kFailsLater, kBroken, kDirect, kIdle, kFirstOnly};
  Data data({30, 20, 10, 2, false, false}, false, false, Device::opencl(0));
  CHECK(measure_gemm(backend->opencl(), data.args, all).name == "direct");
  CHECK_THROWS_WITH_AS(measure_gemm(backend->opencl(), data.args, {&kIdle, 1}),
                       doctest::Contains("[gemm] no kernel works on opencl:0"), DeviceError);
}

TEST_CASE("opencl gemm: without room for measuring or packing the product is still computed") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_room");
  forget_gemm_choices();
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  test::Doubles expected = data.expected();
  MemoryPool& pool = Device::opencl(0).memory();
  for (const Tensor* t : {&data.a, &data.b, &data.c, &data.bias})
    t->buffer().on_device(Access::read);
  pool.trim();
  pool.set_budget(pool.account().in_use);
  CHECK(choose_gemm(backend->opencl(), data.args).name != "clblast");
  CHECK(recall_tuning(gemm_key(backend->opencl(), data.args)).empty());
  backend->gemm(data.args);
  pool.set_budget({});
  test::check_close(data.c, expected, 0, bound(data.args));
}

TEST_CASE("opencl gemm: measuring waits for the memory of a convolution that chooses too") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_waits");
  forget_gemm_choices();
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  Data small({70, 65, 128, 1, false, false}, false, false, Device::opencl(0));
  for (const Data* d : {&data, &small})
    for (const Tensor* t : {&d->a, &d->b, &d->c}) t->buffer().on_device(Access::read);
  MemoryPool& pool = Device::opencl(0).memory();
  Workspace& workspace = Device::opencl(0).workspace();
  workspace.set_limit({});
  pool.trim();
  constexpr uint64_t kRoom = 1 << 20;
  pool.set_budget(pool.account().in_use + kRoom);
  workspace.reserve(kRoom);
  REQUIRE(workspace.size() == kRoom);
  std::thread other;
  {
    const Workspace::Use use = workspace.use(kRoom);
    other = std::thread([&] { choose_gemm(backend->opencl(), data.args); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    choose_gemm(backend->opencl(), small.args);
  }
  other.join();
  CHECK(recall_tuning(gemm_key(backend->opencl(), data.args)).size() == 1);
  pool.set_budget({});
  workspace.set_limit({});
  forget_gemm_choices();
}

TEST_CASE("opencl gemm: what was packed when the room ends does not count: C is added to once") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  test::CacheFolder folder("gemm_half_room");
  forget_gemm_choices();
  Data data({150, 140, 130, 1, false, false}, false, false, Device::opencl(0));
  data.args.beta = 0.5f;
  test::Doubles expected = data.expected();
  for (const Tensor* t : {&data.a, &data.b, &data.c, &data.bias})
    t->buffer().on_device(Access::read);
  MemoryPool& pool = Device::opencl(0).memory();
  pool.trim();
  const uint64_t one_factor = 160 * 160 * sizeof(float);
  pool.set_budget(pool.account().in_use + one_factor);
  backend->gemm(data.args);
  pool.set_budget({});
  test::check_close(data.c, expected, 0, bound(data.args));
}

TEST_CASE("opencl gemm: our candidates add up in one order: the choice changes no bits") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const Case& s : {Case{20, 30, 300, 4, false, false}, Case{13, 21, 900, 4, false, false}}) {
      std::vector<float> first;
      int compared = 0;
      for (auto& candidate : gemm_candidates(style)) {
        Data data(s, false, false, Device::opencl(0));
        if (candidate.name == "clblast" || !candidate.applicable(backend->opencl(), data.args))
          continue;
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

TEST_CASE("opencl gemm: a device of small work-groups has a candidate for every size") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  DeviceFacts facts = backend->opencl().facts();
  facts.max_work_group = 64;
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

TEST_CASE("opencl gemm: more rows and matrices than a launch takes work-groups in a dimension") {
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
