// SPDX-License-Identifier: MIT
// How the workspace that there is decides how a convolution is computed, with solvers of known
// speeds on a backend that has no others.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "matrix/memory/pool.h"
#include "matrix/ops/reduce.h"
#include "tests/matrix/backend/bare/timed_solver.h"
#include "tests/support/cache_folder.h"
#include "tests/support/conv_policy.h"

namespace kaiseki {
namespace {

using test::Problem;
using test::Solvers;
using test::TimedSolver;

/// Meets a busy moment when it runs on all images for the second time.
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

TEST_CASE("plan: the fastest with room for its workspace; more room, another one") {
  const TimedSolver plain("plain", 0, 6), some("some", kKiB, 3), much("much", 4 * kKiB, 1);
  const Solvers solvers({&plain, &some, &much});
  test::CacheFolder folder("plan");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  Workspace& workspace = Device::opencl(0).workspace();
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
  set_conv_policy({TuneMode::off});
  runs_with(28 * kKiB);
  CHECK(plain.images == std::vector<int64_t>{7});
}

TEST_CASE("plan: a busy moment does not send the first of the list away") {
  const UnluckySolver first("first", 0, 1);
  const TimedSolver second("second", 0, 6);
  const Solvers solvers({&first, &second});
  test::CacheFolder folder("unlucky");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  Problem p;
  p.check_forward();
  first.images.clear(), second.images.clear();
  p.check_forward();
  CHECK(first.images == std::vector<int64_t>{7});
  CHECK(second.images.empty());
}

TEST_CASE("plan: in pieces of the minibatch where a faster solver has no room for all of it") {
  const TimedSolver plain("plain", 0, 6), hungry("hungry", kKiB, 1);
  const Solvers solvers({&plain, &hungry});
  test::CacheFolder folder("pieces");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  Device::opencl(0).workspace().set_limit(4 * kKiB);
  Problem p;
  p.check_forward();
  plain.images.clear(), hungry.images.clear();
  p.check_forward();
  CHECK(hungry.images == std::vector<int64_t>{3, 4});
  CHECK(plain.images.empty());

  Tensor dx(p.x.shape(), DType::f32, Device::opencl(0));
  conv2d_backward_data(p.y, p.filter, {}, dx);
  hungry.images.clear();
  conv2d_backward_data(p.y, p.filter, {}, dx);
  CHECK(hungry.images == std::vector<int64_t>{3, 4});
  test::check_close(dx, test::doubles(multiply(p.y.to(Device::cpu()), Tensor::full({1}, 3))), 0);

  Tensor gradient = Tensor::full({1, 1, 1, 1}, 2, Device::opencl(0));
  conv2d_backward_filter(p.x, p.y, {}, gradient, 0.5f);  // measured, which must not add to it
  const float expected = 1 + sum(multiply(p.x, p.y)).item();
  CHECK(gradient.item() == doctest::Approx(expected).epsilon(1e-5));  // sums of 63 products
  hungry.images.clear();
  conv2d_backward_filter(p.x, p.y, {}, gradient, 1);
  CHECK(hungry.images == std::vector<int64_t>{3, 4});
  CHECK(gradient.item() == doctest::Approx(2 * expected - 1).epsilon(1e-5));
}

TEST_CASE("plan: every solver is tried in pieces, and the others when the pieces are a minibatch") {
  const TimedSolver first("first", 8 * kKiB, 3), best("best", 6 * kKiB, 1), plain("plain", 0, 6);
  const Solvers solvers({&first, &best, &plain});
  test::CacheFolder folder("every");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  Device::opencl(0).workspace().set_limit(32 * kKiB);
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

TEST_CASE(
    "plan: what would make a convolution faster is registered, and taken after the iteration") {
  const TimedSolver plain("plain", 0, 6), hungry("hungry", 10 * kKiB, 1);
  const Solvers solvers({&plain, &hungry});
  test::CacheFolder folder("registered");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  Workspace& workspace = Device::opencl(0).workspace();
  MemoryPool& pool = Device::opencl(0).memory();
  Problem p;
  p.check_forward();
  pool.trim();
  const uint64_t used = pool.account().in_use;
  for (uint64_t room : {0, 30, 48, 96}) {
    CAPTURE(room);
    forget_convolutions();
    workspace.set_limit({});
    pool.trim();
    pool.set_budget(used + room * kKiB);
    p.check_forward();
    workspace.end_iteration();
    CHECK(workspace.size() == (room == 0 ? 0 : room == 30 ? 20 : room == 48 ? 40 : 70) * kKiB);
    p.check_forward();
    plain.images.clear(), hungry.images.clear();
    p.check_forward();
    const std::vector<int64_t> in_pieces = room == 30   ? std::vector<int64_t>{1, 2, 2, 2}
                                           : room == 48 ? std::vector<int64_t>{3, 4}
                                                        : std::vector<int64_t>{7};
    CHECK((room == 0 ? plain : hungry).images == in_pieces);
    if (room == 0) continue;
    const Tensor all({static_cast<int64_t>(room * kKiB)}, DType::u8, Device::opencl(0));
    CHECK(workspace.size() == 0);  // it gave way
    p.check_forward();
  }
  pool.set_budget({});
}

TEST_CASE("plan: what had no room is measured as soon as there is") {
  const TimedSolver plain("plain", 0, 3), hungry("hungry", 10 * kKiB, 1);
  const Solvers solvers({&plain, &hungry});
  test::CacheFolder folder("no_room");
  test::WithConvPolicy policy({TuneMode::exhaustive});
  MemoryPool& pool = Device::opencl(0).memory();
  Problem p;
  pool.trim();
  pool.set_budget(pool.account().in_use + kKiB);
  p.check_forward();
  Backend& backend = test::bare_backend();
  REQUIRE(conv_results(backend, p.problem).size() == 1);
  CHECK(conv_results(backend, p.problem)[0].candidate == "plain");
  const size_t runs = plain.images.size();
  p.check_forward();
  CHECK(plain.images.size() == runs + 1);  // not tried again and again
  pool.set_budget({});
  Device::opencl(0).workspace().end_iteration();
  p.check_forward();
  CHECK(conv_results(backend, p.problem).size() == 2);
}

}  // namespace kaiseki
