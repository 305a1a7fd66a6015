// SPDX-License-Identifier: MIT
// The lines about the rows of a trace.
#include "cli/trace_file.h"

#include <doctest/doctest.h>

namespace kaiseki::cli {
namespace {

using Lines = std::vector<std::string>;

void add(Timeline& timeline, const char* row, double begin, double seconds) {
  timeline.add({.row = row, .kind = "kernel", .name = "gemm", .begin = begin, .seconds = seconds});
}

}  // namespace

TEST_CASE("trace: a line has the share of the time, and the busiest row its idle share") {
  Timeline timeline;
  add(timeline, "copies", 10, 1);
  add(timeline, "kernels", 10, 2);
  add(timeline, "kernels", 13, 1);
  CHECK(lines_of_rows(timeline) ==
        Lines{"copies: 25.0 % busy", "kernels: 75.0 % busy, 25.0 % idle (the busiest row)"});
}

TEST_CASE("trace: a timeline without events has no lines") {
  CHECK(lines_of_rows(Timeline()).empty());
}

TEST_CASE("trace: events that take no time give 0 %") {
  Timeline timeline;
  add(timeline, "copies", 10, 0);
  add(timeline, "kernels", 10, 0);
  CHECK(lines_of_rows(timeline) ==
        Lines{"copies: 0.0 % busy, 100.0 % idle (the busiest row)", "kernels: 0.0 % busy"});
}

TEST_CASE("trace: rounding gives no share beyond 100 %") {
  Timeline timeline;
  for (int i = 0; i < 10; ++i) add(timeline, "steps", 0.1 * i, 0.1);
  CHECK(lines_of_rows(timeline) == Lines{"steps: 100.0 % busy, 0.0 % idle (the busiest row)"});
}

}  // namespace kaiseki::cli
