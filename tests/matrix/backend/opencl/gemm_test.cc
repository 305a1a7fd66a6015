// SPDX-License-Identifier: MIT
// Every candidate for matrix products against sums in double: transposes, odd sizes, batches,
// strides and epilogues. Also the choice among candidates.
#include <doctest/doctest.h>

#include <vector>

#include "matrix/memory/allocator.h"
#include "matrix/ops/elementwise.h"
#include "tests/matrix/backend/opencl/gemm_product.h"

namespace kaiseki::opencl {
namespace {

constexpr ProductCase kCases[] = {{1, 1, 1, 1, false, false},     {7, 5, 3, 1, false, false},
                                  {13, 70, 9, 2, true, false},    {6, 64, 1, 3, false, true},
                                  {50, 33, 401, 1, false, false}, {3, 130, 20, 1, false, false}};

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
        for (const ProductCase& s : kCases) {
          if (is_large_tile(candidate) && trans_a != trans_b) continue;
          Product data(s, trans_a, trans_b, Device::opencl(0));
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
      for (const ProductCase& s : {ProductCase{132, 72, 44, 2, false, false},
                                   ProductCase{68, 136, 900, 2, false, false}}) {
        Product data(s, transposed, transposed, Device::opencl(0), 4);
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
  std::vector<ProductCase> cases(std::begin(kCases), std::end(kCases));
  cases.push_back({129, 67, 37, 2, false, false});  // parts of several tiles
  for (const auto run : {gemm_f64, gemm_direct})
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true})
        for (const ProductCase& s : cases) {
          Product data(s, trans_a, trans_b, Device::opencl(0));
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
    for (Activation activation : kActivations) {
      Product data({13, 21, 300, 1, false, false}, false, false, Device::opencl(0));
      data.a.mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
      data.args.bias_kind = static_cast<GemmArgs::Bias>(static_cast<int>(activation) % 3);
      data.args.bias = &data.bias;
      data.args.activation = activation;
      data.args.slope = 0.1f;
      if (!candidate.applicable(backend->opencl(), data.args)) continue;
      INFO(activation_name(activation));
      test::Doubles expected = data.expected();
      candidate.run(backend->opencl(), data.args);
      test::check_close(data.c, expected, 0, bound(data.args));
    }
  });
}

TEST_CASE("opencl gemm: products without terms") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  Product data({3, 4, 5, 1, false, false}, false, false, Device::opencl(0));
  data.args.k = 0;
  data.args.beta = 0.5f;
  test::Doubles expected = data.expected();
  backend->run(kGemm, data.args);
  test::check_close(data.c, expected, 0, 1e-6);
  data.args.m = 0;
  backend->run(kGemm, data.args);
  test::check_close(data.c, expected, 0, 1e-6);
}

TEST_CASE("opencl gemm: the library's candidates add in one order, so the choice changes no bits") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const ProductCase& s :
         {ProductCase{20, 30, 300, 4, false, false}, ProductCase{13, 21, 900, 4, false, false}}) {
      std::vector<float> first;
      int compared = 0;
      for (auto& candidate : gemm_candidates(style)) {
        Product data(s, false, false, Device::opencl(0));
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
  Product data({200, 200, 200, 1, false, false}, false, false, Device::opencl(0));
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
    Product data({300, 260, 5, 5, true, false}, false, false, Device::opencl(0));
    if (candidate.name == "clblast" || !candidate.applicable(backend->opencl(), data.args)) return;
    test::Doubles expected = data.expected();
    candidate.run(backend->opencl(), data.args);
    test::check_close(data.c, expected, 0, bound(data.args));
  });
  backend->opencl().set_most_groups(most);
}

}  // namespace kaiseki::opencl
