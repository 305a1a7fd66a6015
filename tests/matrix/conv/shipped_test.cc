// SPDX-License-Identifier: MIT
// The measurements that come with the library.
#include "matrix/conv/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "matrix/conv/measure.h"
#include "matrix/conv/tuning.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/cache_folder.h"
#include "tests/support/conv_policy.h"

namespace kaiseki {
namespace {

constexpr const char* kDriver = "Highway AVX3";

/// VGG-16's conv4_2, of which there is a measurement with 2 threads and a minibatch of 8.
TuningKey conv4_2(int threads, int batch) {
  return {"any", kDriver, threads, "convolution",
          "forward n" + std::to_string(batch) + "c512h28w28k512r3s3p1"};
}

double time_of(const std::vector<TuningResult>& results, const std::string& candidate) {
  const auto at = std::ranges::find(results, candidate, &TuningResult::candidate);
  REQUIRE(at != results.end());
  return at->milliseconds;
}

}  // namespace

TEST_CASE("shipped: measurements serve other minibatches and threads, scaled, and not any") {
  const auto exact = shipped_tuning(conv4_2(2, 8));
  REQUIRE(exact.size() >= 4);
  CHECK(time_of(exact, "winograd4x4_3x3") < time_of(exact, "implicit_gemm"));
  CHECK(time_of(exact, "implicit_gemm") < time_of(exact, "direct"));
  for (const auto& [threads, batch, factor] : {std::tuple{2, 16, 2.0}, std::tuple{2, 4, 0.5},
                                               std::tuple{4, 8, 0.5}, std::tuple{1, 8, 2.0}}) {
    const auto scaled = shipped_tuning(conv4_2(threads, batch));
    REQUIRE(scaled.size() == exact.size());
    CHECK(time_of(scaled, "direct") == doctest::Approx(factor * time_of(exact, "direct")));
  }
  CHECK(shipped_tuning(conv4_2(2, 33)).empty());
  CHECK(shipped_tuning(conv4_2(9, 8)).empty());
  TuningKey other = conv4_2(2, 8);
  other.driver = "Highway SSE4";
  CHECK(shipped_tuning(other).empty());
  other = conv4_2(2, 8), other.operation = "gemm";
  CHECK(shipped_tuning(other).empty());
  other = conv4_2(2, 8), other.which = "forward";
  CHECK(shipped_tuning(other).empty());
}

TEST_CASE("shipped: the favourite is measured and checked before it is believed") {
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped");
  test::WithConvPolicy policy({TuneMode::cached});
  // GoogLeNet's inception 4a, 3x3.
  const ConvProblem p{ConvDirection::forward, 8, 112, 14, 14, 224, 3, 3, {1, 1}, {1, 1}};
  set_thread_count(2);
  const auto shipped = shipped_tuning(convolution_key(backend, p));
  if (backend.info().platform != kDriver) {
    CHECK(shipped.empty());
    MESSAGE("this processor is not one of the table's");
  } else {
    REQUIRE(shipped.size() >= 4);
    CHECK(conv_candidates(backend, p)[0].solver->name() == shipped[0].candidate);
    CHECK_FALSE(std::filesystem::exists(tuning_file()));

    forget_convolutions();
    set_conv_policy({TuneMode::hybrid});
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
    const Tensor filter = test::random_tensor({p.k, p.c, p.r, p.s}, 2, Device::cpu());
    Tensor y({p.n, p.k, p.out_h(), p.out_w()}, DType::f32, Device::cpu());
    conv2d(x, filter, nullptr, {p.stride, p.padding}, y);
    const auto measured = recall_tuning(convolution_key(backend, p));
    CHECK(measured.size() < shipped.size());  // no estimate is written
    for (int process = 0; process < 2; ++process) {
      const auto results = conv_results(backend, p);
      REQUIRE(results.size() == shipped.size());
      const double factor = time_of(results, shipped[0].candidate) / shipped[0].milliseconds;
      for (const TuningResult& result : shipped)
        CHECK(time_of(results, result.candidate) == doctest::Approx(factor * result.milliseconds));
      CHECK(time_of(results, shipped[0].candidate) ==
            doctest::Approx(time_of(measured, shipped[0].candidate)));
      forget_convolutions();  // as another process, which reads the file
    }

    // There with less workspace another one runs, and is checked before.
    backend.device().workspace().set_limit(0);
    CHECK_FALSE(convolution_known(backend, p));
    conv2d(x, filter, nullptr, {p.stride, p.padding}, y);
    const auto more = recall_tuning(convolution_key(backend, p));
    CHECK(more.size() > measured.size());
    const auto candidates = conv_candidates(backend, p);
    const auto runs = std::ranges::find(candidates, uint64_t{0}, &ConvCandidate::workspace);
    REQUIRE(runs != candidates.end());
    CHECK(time_of(more, std::string(runs->solver->name())) > 0);
    backend.device().workspace().set_limit({});
  }
  set_thread_count(0);
}

TEST_CASE("shipped: the first of the list is not taken unmeasured for being nearly as fast") {
  Backend& backend = Device::cpu().backend();
  if (backend.info().platform != kDriver) return;
  test::CacheFolder folder("shipped_near");
  test::WithConvPolicy policy({TuneMode::hybrid});
  set_thread_count(2);
  // ResNet-50's conv3 at its end: pointwise stands before implicit_gemm, which is 4 % faster.
  const ConvProblem p{ConvDirection::backward_data, 8, 128, 28, 28, 512, 1, 1};
  const auto shipped = shipped_tuning(convolution_key(backend, p));
  REQUIRE(time_of(shipped, "implicit_gemm") < time_of(shipped, "pointwise"));
  REQUIRE(time_of(shipped, "implicit_gemm") > 0.95 * time_of(shipped, "pointwise"));
  Tensor dx({p.n, p.c, p.h, p.w}, DType::f32, Device::cpu());
  const Tensor filter = test::random_tensor({p.k, p.c, p.r, p.s}, 1, Device::cpu());
  const Tensor dy = test::random_tensor({p.n, p.k, p.h, p.w}, 2, Device::cpu());
  conv2d_backward_data(dy, filter, {}, dx);
  CHECK(time_of(recall_tuning(convolution_key(backend, p)), "implicit_gemm") > 0);
  CHECK(conv_candidates(backend, p)[0].solver->name() == "implicit_gemm");
  set_thread_count(0);
}

}  // namespace kaiseki
