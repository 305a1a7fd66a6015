// SPDX-License-Identifier: MIT
// The available workspace determines the plan of a convolution. The solvers have known speeds, and
// the backend has no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "matrix/memory/allocator.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "tests/matrix/backend/bare/timed_solver.h"
#include "tests/support/cache_folder.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

using test::Problem;
using test::Solvers;
using test::TimedSolver;

/// Simulates a disturbance when it runs on all images for the second time.
class UnluckySolver : public TimedSolver {
 public:
  using TimedSolver::TimedSolver;
  void run(const ConvProblem& p, const ConvArgs& args) const override {
    if (p.n == 7 && std::count(images.begin(), images.end(), 7) == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    TimedSolver::run(p, args);
  }
};

constexpr uint64_t kKiB = 1024;

}  // namespace

TEST_CASE("plan: the fastest solver with room for its workspace runs") {
  const TimedSolver plain("plain", 0, 6), some("some", kKiB, 3), much("much", 4 * kKiB, 1);
  const Solvers solvers({&plain, &some, &much});
  test::CacheFolder folder("plan");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Workspace& workspace = test::bare_device().workspace();
  Problem p;
  const auto runs_with = [&](uint64_t room) {
    workspace.set_limit(room);
    p.check_forward();
    for (const TimedSolver* solver : {&plain, &some, &much}) solver->images.clear();
    p.check_forward();
  };
  runs_with(28 * kKiB);
  CHECK(much.images == std::vector<int64_t>{7});
  runs_with(0);
  CHECK(plain.images == std::vector<int64_t>{7});
  CHECK(much.images.empty());
  set_tune_policy({TuneMode::off});
  runs_with(28 * kKiB);
  CHECK(plain.images == std::vector<int64_t>{7});
}

TEST_CASE("plan: a disturbed measurement does not replace the first solver") {
  const UnluckySolver first("first", 0, 1);
  const TimedSolver second("second", 0, 6);
  const Solvers solvers({&first, &second});
  test::CacheFolder folder("unlucky");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Problem p;
  p.check_forward();
  first.images.clear(), second.images.clear();
  p.check_forward();
  CHECK(first.images == std::vector<int64_t>{7});
  CHECK(second.images.empty());
}

TEST_CASE("plan: a faster solver without room for the whole minibatch runs on pieces") {
  const TimedSolver plain("plain", 0, 6), large_workspace("large_workspace", kKiB, 1);
  const Solvers solvers({&plain, &large_workspace});
  test::CacheFolder folder("pieces");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  test::bare_device().workspace().set_limit(4 * kKiB);
  Problem p;
  p.check_forward();
  plain.images.clear(), large_workspace.images.clear();
  p.check_forward();
  CHECK(large_workspace.images == std::vector<int64_t>{3, 4});
  CHECK(plain.images.empty());

  Tensor dx(p.x.shape(), DType::f32, test::bare_device());
  conv2d_backward_data_into(dx, p.y, p.filter, {});
  large_workspace.images.clear();
  conv2d_backward_data_into(dx, p.y, p.filter, {});
  CHECK(large_workspace.images == std::vector<int64_t>{3, 4});
  test::check_close(dx, test::doubles(p.y.to(Device::cpu()) * 3), 0);

  Tensor gradient = Tensor::full({1, 1, 1, 1}, 2, test::bare_device());
  // This call measures, and must not add to it.
  conv2d_backward_filter_into(gradient, p.x, p.y, {}, 0.5f);
  const float expected = 1 + sum(p.x * p.y).item();
  CHECK(gradient.item() == doctest::Approx(expected).epsilon(1e-5));  // sums of 63 products
  large_workspace.images.clear();
  conv2d_backward_filter_into(gradient, p.x, p.y, {}, 1);
  CHECK(large_workspace.images == std::vector<int64_t>{3, 4});
  CHECK(gradient.item() == doctest::Approx(2 * expected - 1).epsilon(1e-5));
}

TEST_CASE("plan: every solver is tried on pieces, and the others if the minibatch has their size") {
  const TimedSolver first("first", 8 * kKiB, 3), best("best", 6 * kKiB, 1), plain("plain", 0, 6);
  const Solvers solvers({&first, &best, &plain});
  test::CacheFolder folder("every");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  test::bare_device().workspace().set_limit(32 * kKiB);
  Problem p(8);
  p.check_forward();
  for (const TimedSolver* solver : {&first, &best, &plain}) solver->images.clear();
  p.check_forward();
  CHECK(best.images == std::vector<int64_t>{4, 4});
  CHECK(first.images.empty());
  CHECK(plain.images.empty());
  Problem last(4);
  last.check_forward();
  CHECK(conv_results(test::bare_backend(), last.problem).size() == 3);
}

TEST_CASE("plan: a faster workspace size is recorded, and taken after the iteration") {
  const TimedSolver plain("plain", 0, 6), large_workspace("large_workspace", 10 * kKiB, 1);
  const Solvers solvers({&plain, &large_workspace});
  test::CacheFolder folder("registered");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Workspace& workspace = test::bare_device().workspace();
  Allocator& allocator = test::bare_device().memory();
  Problem p;
  p.check_forward();
  allocator.trim();
  const uint64_t used = allocator.account().in_use;
  for (uint64_t room : {0, 30, 48, 96}) {
    CAPTURE(room);
    forget_measurements();
    workspace.set_limit({});
    allocator.trim();
    allocator.set_budget(used + room * kKiB);
    p.check_forward();
    workspace.grow();
    CHECK(workspace.size() == (room == 0 ? 0 : room == 30 ? 20 : room == 48 ? 40 : 70) * kKiB);
    p.check_forward();
    plain.images.clear(), large_workspace.images.clear();
    p.check_forward();
    const std::vector<int64_t> in_pieces = room == 30   ? std::vector<int64_t>{1, 2, 2, 2}
                                           : room == 48 ? std::vector<int64_t>{3, 4}
                                                        : std::vector<int64_t>{7};
    CHECK((room == 0 ? plain : large_workspace).images == in_pieces);
    if (room == 0) continue;
    const Tensor all({static_cast<int64_t>(room * kKiB)}, DType::u8, test::bare_device());
    CHECK(workspace.size() == 0);  // it was released
    p.check_forward();
  }
  allocator.set_budget({});
}

TEST_CASE("plan: a repeated convolution gets the workspace that it wanted") {
  const TimedSolver plain("plain", 0, 6), large("large", 10 * kKiB, 1);
  const Solvers solvers({&plain, &large});
  test::CacheFolder folder("again");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Workspace& workspace = test::bare_device().workspace();
  Allocator& allocator = test::bare_device().memory();
  Problem p, other;
  allocator.trim();
  workspace.set_limit({});
  allocator.set_budget(allocator.account().in_use +
                       96 * kKiB);  // too little for a block that no convolution has requested yet
  p.check_forward();
  other.check_forward();  // same iteration, another filter
  CHECK(workspace.size() == 0);
  p.check_forward();
  CHECK(workspace.size() == 70 * kKiB);
  large.images.clear();
  p.check_forward();
  CHECK(large.images == std::vector<int64_t>{7});
  allocator.set_budget({});
  workspace.set_limit({});
}

TEST_CASE("plan: a solver that had no room is measured once there is room") {
  const TimedSolver plain("plain", 0, 3), large_workspace("large_workspace", 10 * kKiB, 1);
  const Solvers solvers({&plain, &large_workspace});
  test::CacheFolder folder("no_room");
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Allocator& allocator = test::bare_device().memory();
  Problem p;
  allocator.trim();
  allocator.set_budget(allocator.account().in_use + kKiB);
  p.check_forward();
  Backend& backend = test::bare_backend();
  REQUIRE(conv_results(backend, p.problem).size() == 1);
  CHECK(conv_results(backend, p.problem)[0].candidate == "plain");
  const size_t runs = plain.images.size();
  p.check_forward();
  CHECK(plain.images.size() == runs + 1);  // not tried again
  allocator.set_budget({});
  test::bare_device().workspace().grow();
  p.check_forward();
  CHECK(conv_results(backend, p.problem).size() == 2);
}

}  // namespace kaiseki
