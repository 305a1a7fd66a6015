// SPDX-License-Identifier: MIT
// Choosing the size of pieces.
#include "matrix/conv/out_of_core/split.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/matrix/conv/out_of_core/all_pieces.h"

namespace kaiseki::conv {
namespace {

/// About the rates of a large GPU on a fast link.
constexpr pieces::PieceCosts kCosts{
    .to_device = 1 / 55e9, .to_host = 1 / 55e9, .copy = 4e-6, .multiply_add = 1 / 20e12};

ConvProblem problem_of(int64_t n, int64_t channels, int64_t h, int64_t w) {
  return {.n = n, .c = channels, .h = h, .w = w, .k = channels, .r = 3, .s = 3, .padding = {1, 1}};
}

ConvProblem with_groups(ConvProblem p, int64_t groups) {
  p.groups = groups;
  return p;
}

PieceSize whole_problem(const ConvProblem& p) {
  return {p.n, p.direction == ConvDirection::backward_data ? p.h : p.out_h(), p.c, p.k};
}

}  // namespace

TEST_CASE("pieces: the chosen size takes at most 3.4 % longer than the best of all") {
  for (ConvProblem p :
       {problem_of(1, 64, 1024, 512), problem_of(1, 256, 256, 256), problem_of(64, 16, 61, 64),
        problem_of(7, 3, 13, 5), problem_of(1, 300, 3, 2000)})
    for (const ConvDirection direction :
         {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
      p.direction = direction;
      CAPTURE(p.str());
      const uint64_t whole = piece_bytes(p, whole_problem(p));
      for (const uint64_t part : {1, 2, 4, 8, 30}) {
        CAPTURE(part);
        const auto size = choose_pieces(p, whole / part, kCosts);
        REQUIRE(size);
        CHECK(piece_bytes(p, *size) <= whole / part);
        CHECK(piece_count(p, *size) == std::ssize(divide(p, *size)));
        CHECK(predict_seconds(p, *size, kCosts) <=
              1.034 * test::best_of_all_pieces(p, whole / part, kCosts));
      }
    }
}

TEST_CASE("pieces: channels are cut if a row of all of them does not fit") {
  for (ConvProblem p : {problem_of(2, 64, 50, 4000), with_groups(problem_of(2, 64, 50, 4000), 16)})
    for (const ConvDirection direction :
         {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
      p.direction = direction;
      CAPTURE(p.str());
      const uint64_t row = piece_bytes(p, {1, 1, p.c, p.k});
      const auto size = choose_pieces(p, row / 2, kCosts);
      REQUIRE(size);
      CHECK(size->x_channels < p.c);
      CHECK(piece_bytes(p, *size) <= row / 2);
      CHECK_FALSE(choose_pieces(p, piece_bytes(p, smallest_piece(p)) - 1, kCosts));
    }
}

TEST_CASE("pieces: rows that no filter reads are not cut in backward_data") {
  ConvProblem p = problem_of(8, 64, 57, 57);
  p.r = p.s = 1;
  p.padding = {0, 0};
  p.stride = {2, 2};
  p.direction = ConvDirection::backward_data;
  const auto size = choose_pieces(p, piece_bytes(p, whole_problem(p)) / 4, kCosts);
  REQUIRE(size);
  CHECK(size->rows == p.h);
}

TEST_CASE("pieces: the paper's shapes take little more than the slowest of their queues") {
  pieces::PieceCosts measured = kCosts;  // also the start of kernels takes time
  measured.start = 10e-6;
  for (ConvProblem p : {problem_of(1, 64, 8192, 4096), problem_of(1, 256, 1024, 1024),
                        problem_of(512, 64, 256, 256)}) {
    const uint64_t whole = piece_bytes(p, whole_problem(p));
    for (const ConvDirection direction :
         {ConvDirection::backward_filter, ConvDirection::backward_data, ConvDirection::forward}) {
      p.direction = direction;
      CAPTURE(p.str());
      for (const uint64_t part : {6, 24, 400}) {
        CAPTURE(part);
        const auto size = choose_pieces(p, whole / part, measured);
        REQUIRE(size);
        CHECK(predict_seconds(p, *size, measured) <=
              1.034 * test::best_of_all_pieces(p, whole / part, measured));
      }
    }
    const auto size = choose_pieces(p, whole / 6, kCosts);
    REQUIRE(size);
    const double bytes = static_cast<double>(p.n * p.c * p.h * p.w) * sizeof(float);
    const double bound = std::max(bytes * kCosts.to_host, p.flops() / 2 * kCosts.multiply_add);
    CHECK(predict_seconds(p, *size, kCosts) < 1.25 * bound);
  }
}

TEST_CASE("pieces: nothing is chosen if no row of a channel fits") {
  CHECK_FALSE(choose_pieces(problem_of(1, 64, 64, 64), 1000, kCosts));
}

}  // namespace kaiseki::conv
