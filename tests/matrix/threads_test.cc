// SPDX-License-Identifier: MIT
#include "matrix/threads.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KAISEKI_SANITIZED 1
#elif defined(__has_feature)
#define KAISEKI_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define KAISEKI_SANITIZED 0
#endif

namespace kaiseki {

TEST_CASE("every index runs once, in the same pieces with any number of threads") {
  for (int threads : {1, 2, 5}) {
    set_thread_count(threads);
    CHECK(thread_count() == threads);
    for (int64_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      std::atomic<bool> aligned = true;
      parallel_for(count, 16, [&](int64_t begin, int64_t end) {
        if (begin % 16 != 0 || end - begin > 16) aligned = false;
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      CHECK(aligned);
      for (auto& n : seen) CHECK(n == 1);
    }
  }
  set_thread_count(0);
}

TEST_CASE("nested calls run, and exceptions are rethrown") {
  set_thread_count(2);
  std::atomic<int> total = 0;
  parallel_for(4, 1, [&](int64_t, int64_t) {
    parallel_for(8, 2, [&](int64_t begin, int64_t end) { total += static_cast<int>(end - begin); });
  });
  CHECK(total == 32);
  CHECK_THROWS_WITH(parallel_for(100, 1,
                                 [](int64_t begin, int64_t) {
                                   if (begin == 57) throw std::runtime_error("piece 57");
                                 }),
                    "piece 57");
  CHECK_THROWS_AS(set_thread_count(-1), Error);
  set_thread_count(0);
}

TEST_CASE("several threads may compute at once") {
  set_thread_count(2);
  std::atomic<int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        parallel_for(64, 1, [&](int64_t begin, int64_t) { total += begin; });
    });
  for (auto& caller : callers) caller.join();
  CHECK(total == int64_t{3} * 200 * 64 * 63 / 2);
  set_thread_count(0);
}

#if !KAISEKI_SANITIZED  // sanitizers need much address space
TEST_CASE("if no more threads can be started, the existing ones do the work") {
  std::vector<std::string> warnings;
  set_log_sink([&](LogLevel, std::string_view text) { warnings.emplace_back(text); });
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_AS, &old) == 0);
  rlimit tight = old;
  tight.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{256} << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  set_thread_count(1024);
  const int threads = thread_count();
  std::atomic<int64_t> total = 0;
  parallel_for(1000, 10, [&](int64_t begin, int64_t end) { total += end - begin; });
  set_thread_count(0);
  setrlimit(RLIMIT_AS, &old);
  set_log_sink({});
  CHECK(threads >= 1);
  CHECK(threads < 1024);
  CHECK(total == 1000);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("[threads] expected 1024 threads, got " + std::to_string(threads)));
}
#endif

TEST_CASE("a stop ends a call after the pieces that run") {
  for (int threads : {1, 4}) {
    set_thread_count(threads);
    std::atomic<int> pieces = 0;
    CHECK_THROWS_WITH(parallel_for(1000, 1,
                                   [&](int64_t, int64_t) {
                                     ++pieces;
                                     stop_state() = StopState::asked;
                                   }),
                      "[threads] stopped");
    CHECK(pieces <= threads);
    CHECK_THROWS_WITH(parallel_for(1, 1, [](int64_t, int64_t) {}), "[threads] stopped");
    stop_state() = StopState::runs;
    parallel_for(10, 1, [&](int64_t, int64_t) { ++pieces; });
    CHECK(pieces > 10);
  }
  set_thread_count(0);
}

}  // namespace kaiseki
