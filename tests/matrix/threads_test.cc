// SPDX-License-Identifier: MIT
#include "matrix/threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "matrix/error.h"

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

TEST_CASE("nested calls run, and exceptions come out") {
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

}  // namespace kaiseki
