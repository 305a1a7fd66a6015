// SPDX-License-Identifier: MIT
// The measurements that are shipped with the library.
#include "matrix/tune/shipped.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "matrix/conv/measure.h"
#include "matrix/conv/tuning.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/copy.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/cache_folder.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

constexpr const char *kDriver = "Highway AVX3", *kOlder = "Highway AVX2";

/// VGG-16's conv4_2, which was measured with 2 threads and a minibatch of 8.
TuningKey conv4_2(int threads, int batch) {
  return {"any", kDriver, threads, "convolution", "", "forward c512h28w28k512r3s3p1", batch};
}

double time_of(const std::vector<TuningResult>& results, const std::string& candidate) {
  const auto at = std::ranges::find(results, candidate, &TuningResult::candidate);
  REQUIRE(at != results.end());
  return at->milliseconds;
}

/// GoogLeNet's inception 4a, 3x3.
constexpr ConvProblem kInception{ConvDirection::forward, 8, 112, 14, 14, 224, 3, 3, {1, 1}, {1, 1}};

struct Data {
  Tensor x = test::random_tensor({kInception.n, kInception.c, kInception.h, kInception.w}, 1);
  Tensor filter = test::random_tensor({kInception.k, kInception.c, kInception.r, kInception.s}, 2);
  Tensor y = Tensor::full({kInception.n, kInception.k, kInception.out_h(), kInception.out_w()}, 0,
                          Device::cpu());

  std::vector<float> run() {
    conv2d_into(y, x, filter, {kInception.stride, kInception.padding});
    return y.to_vector();
  }
};

/// Returns whether this machine has a processor with AVX-512, like the one that made the
/// measurements below.
bool on_its_processor() {
  if (Device::cpu().backend().info().platform == kDriver) return true;
  MESSAGE("this processor has no AVX-512");
  return false;
}

std::string first_of(Backend& backend, const ConvProblem& problem) {
  return std::string(conv_candidates(backend, problem)[0].solver->name());
}

std::string first_without_workspace(Backend& backend, const ConvProblem& problem) {
  const auto candidates = conv_candidates(backend, problem);
  const auto first = std::ranges::find(candidates, uint64_t{0}, &ConvCandidate::workspace);
  REQUIRE(first != candidates.end());
  return std::string(first->solver->name());
}

}  // namespace

TEST_CASE("shipped: measurements apply to similar minibatches and threads, scaled") {
  const auto exact = shipped_tuning(conv4_2(2, 8));
  REQUIRE(exact.size() >= 4);
  CHECK(time_of(exact, "winograd4x4_3x3") < time_of(exact, "implicit_gemm"));
  for (const auto& [threads, batch, factor] : {std::tuple{2, 16, 2.0}, std::tuple{2, 4, 0.5},
                                               std::tuple{4, 8, 0.5}, std::tuple{1, 8, 2.0}}) {
    const auto scaled = shipped_tuning(conv4_2(threads, batch));
    REQUIRE(scaled.size() == exact.size());
    CHECK(time_of(scaled, "im2col_sliced") ==
          doctest::Approx(factor * time_of(exact, "im2col_sliced")));
  }
  TuningKey other = conv4_2(2, 8);
  other.driver = kOlder;
  const auto older = shipped_tuning(other);
  CHECK(older.size() == exact.size());
  CHECK(time_of(older, "winograd4x4_3x3") > time_of(exact, "winograd4x4_3x3"));
  CHECK(shipped_tuning(conv4_2(2, 33)).empty());
  CHECK(shipped_tuning(conv4_2(9, 8)).empty());
  other.driver = "Highway SSE4";
  CHECK(shipped_tuning(other).empty());
  other = conv4_2(2, 8), other.which_per_image = "forward";
  CHECK(shipped_tuning(other).empty());
  other.which_per_image.clear();
  CHECK(shipped_tuning(other).empty());
}

TEST_CASE("shipped: the key of a convolution has its minibatch and the rest") {
  const TuningKey key = convolution_key(Device::cpu().backend(), kInception);
  CHECK(key.which == "forward n8c112h14w14k224r3s3p1");
  CHECK(key.which_per_image == "forward c112h14w14k224r3s3p1");
  CHECK(key.minibatch == 8);
}

TEST_CASE("shipped: the favorite is measured and checked before it is used") {
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped");
  test::WithTunePolicy policy({TuneMode::hybrid});
  const ConvProblem p = kInception;
  set_thread_count(2);
  const auto shipped = shipped_tuning(convolution_key(backend, p));
  const std::string driver = backend.info().platform;
  CHECK(shipped.empty() == (driver != kDriver && driver != kOlder));
  if (!shipped.empty()) {
    REQUIRE(shipped.size() >= 4);
    Data data;
    data.run();
    const auto measured = recall_tuning(convolution_key(backend, p));
    CHECK(measured.size() < shipped.size());  // no estimate is written
    for (int process = 0; process < 2; ++process) {
      const auto results = conv_results(backend, p);
      const double factor = time_of(results, shipped[0].candidate) / shipped[0].milliseconds;
      for (const TuningResult& result : shipped)
        CHECK(time_of(results, result.candidate) == doctest::Approx(factor * result.milliseconds));
      CHECK(time_of(results, shipped[0].candidate) ==
            doctest::Approx(time_of(measured, shipped[0].candidate)));
      forget_measurements();  // like another process, which reads the file
    }

    // With less workspace, another solver runs, and is checked first.
    backend.device().workspace().set_limit(0);
    CHECK_FALSE(convolution_is_measured(backend, p));
    data.run();
    const auto more = recall_tuning(convolution_key(backend, p));
    CHECK(more.size() > measured.size());
    CHECK(time_of(more, first_without_workspace(backend, p)) > 0);
    backend.device().workspace().set_limit({});
  }
  set_thread_count(0);
}

TEST_CASE("shipped: the solver with the best estimate is measured, even if it is only 1 % faster") {
  if (!on_its_processor()) return;
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped_near");
  test::WithTunePolicy policy({TuneMode::hybrid});
  set_thread_count(2);
  // VGG-16's conv5: F(4x4, 3x3) comes before F(2x2, 3x3), which is 1 % faster.
  const ConvProblem p{ConvDirection::backward_data, 8, 512, 14, 14, 512, 3, 3, {1, 1}, {1, 1}};
  const auto shipped = shipped_tuning(convolution_key(backend, p));
  REQUIRE(time_of(shipped, "winograd2x2_3x3") < time_of(shipped, "winograd4x4_3x3"));
  REQUIRE(time_of(shipped, "winograd2x2_3x3") > 0.95 * time_of(shipped, "winograd4x4_3x3"));
  Tensor dx({p.n, p.c, p.h, p.w}, DType::f32, Device::cpu());
  const Tensor filter = test::random_tensor({p.k, p.c, p.r, p.s}, 1, Device::cpu());
  const Tensor dy = test::random_tensor({p.n, p.k, p.h, p.w}, 2, Device::cpu());
  for (TuneMode mode : {TuneMode::hybrid, TuneMode::cached}) {  // nothing is checked yet
    set_tune_policy({mode});
    CHECK(first_of(backend, p) == "winograd4x4_3x3");
  }
  set_tune_policy({TuneMode::hybrid});
  conv2d_backward_data_into(dx, dy, filter, {{1, 1}, {1, 1}});
  CHECK(time_of(recall_tuning(convolution_key(backend, p)), "winograd2x2_3x3") > 0);
  for (TuneMode mode : {TuneMode::hybrid, TuneMode::cached}) {
    set_tune_policy({mode});
    CHECK(first_of(backend, p) == "winograd2x2_3x3");
  }
  set_thread_count(0);
}

TEST_CASE("shipped: no solver runs unmeasured if the favorite is slower than its estimate") {
  if (!on_its_processor()) return;
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped_slower");
  test::WithTunePolicy policy({TuneMode::cached});
  set_thread_count(2);
  const TuningKey key = convolution_key(backend, kInception);
  const auto shipped = shipped_tuning(key);
  REQUIRE(shipped.size() > 2);
  // A thousand times faster than shipped. The other estimates are scaled alike until the solvers
  // are measured.
  remember_tuning(key, {{shipped[2].candidate, shipped[2].milliseconds / 1000, 0}});
  CHECK(first_of(backend, kInception) == shipped[2].candidate);
  set_tune_policy({TuneMode::hybrid});
  Data().run();
  const auto measured = recall_tuning(key);
  for (int i = 0; i < 3; ++i) CHECK(time_of(measured, shipped[i].candidate) > 0);
  CHECK(convolution_is_measured(backend, kInception));
  CHECK(first_of(backend, kInception) == shipped[2].candidate);
  set_thread_count(0);
}

TEST_CASE("shipped: amortized, a timed run is the computation") {
  if (!on_its_processor()) return;
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped_amortized");
  Data data;
  std::vector<float> expected;
  set_thread_count(2);
  {
    test::WithTunePolicy policy({TuneMode::off});
    expected = data.run();
  }
  test::WithTunePolicy policy({TuneMode::amortized});
  int calls = 0;
  for (; calls < 20 && !convolution_is_measured(backend, kInception); ++calls) {
    fill(data.y, NAN);
    const std::vector<float> values = data.run();
    CHECK(std::equal(values.begin(), values.end(), expected.begin(), [](float a, float b) {
      return std::abs(a - b) < 2e-3f;  // sums of 1008 products of values in -1..1
    }));
    if (calls == 0) CHECK(recall_tuning(convolution_key(backend, kInception)).empty());
  }
  CHECK(calls >= 3);  // timed runs of the favorite
  CHECK(calls < 20);
  set_thread_count(0);
}

TEST_CASE("shipped: amortized, another solver is measured if the favorite loses its room") {
  if (!on_its_processor()) return;
  Backend& backend = Device::cpu().backend();
  test::CacheFolder folder("shipped_amortized_room");
  test::WithTunePolicy policy({TuneMode::amortized});
  set_thread_count(2);
  Data data;
  data.run();
  backend.device().workspace().set_limit(0);
  for (int i = 0; i < 20; ++i) data.run();
  CHECK(convolution_is_measured(backend, kInception));
  CHECK(time_of(recall_tuning(convolution_key(backend, kInception)),
                first_without_workspace(backend, kInception)) > 0);
  backend.device().workspace().set_limit({});
  set_thread_count(0);
}

}  // namespace kaiseki
