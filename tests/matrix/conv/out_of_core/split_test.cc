// SPDX-License-Identifier: MIT
// Choosing the size of pieces.
#include "matrix/conv/out_of_core/split.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace kaiseki::conv {
namespace {

/// About the rates of a large GPU on a fast link.
constexpr pieces::PieceCosts kCosts{
    .to_device = 1 / 55e9, .to_host = 1 / 55e9, .copy = 4e-6, .multiply_add = 1 / 20e12};

ConvProblem problem_of(int64_t n, int64_t channels, int64_t h, int64_t w) {
  return {.n = n, .c = channels, .h = h, .w = w, .k = channels, .r = 3, .s = 3, .padding = {1, 1}};
}

/// The shortest time of all sizes that fit, by trying each of them.
double best_of_all(const ConvProblem& p, uint64_t room) {
  const int64_t rows = p.direction == ConvDirection::backward_data ? p.h : p.out_h();
  double best = 1e30;
  for (int64_t images = 1; images <= p.n; ++images)
    for (int64_t size = 1; size <= rows; ++size)
      if (piece_bytes(p, {images, size}) <= room / kPiecesAtOnce)
        best = std::min(best, predict_seconds(p, {images, size}, kCosts));
  return best;
}

}  // namespace

TEST_CASE("pieces: the chosen size is the best of all") {
  for (ConvProblem p : {problem_of(1, 64, 1024, 512), problem_of(1, 256, 256, 256),
                        problem_of(64, 16, 61, 64), problem_of(7, 3, 13, 5)})
    for (const ConvDirection direction :
         {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
      p.direction = direction;
      CAPTURE(p.str());
      const uint64_t whole = piece_bytes(p, {p.n, p.h});
      for (const uint64_t part : {1, 2, 4, 8}) {
        CAPTURE(part);
        const auto size = choose_pieces(p, kPiecesAtOnce * whole / part, kCosts);
        REQUIRE(size);
        CHECK(piece_bytes(p, *size) <= whole / part);
        CHECK(predict_seconds(p, *size, kCosts) ==
              doctest::Approx(best_of_all(p, kPiecesAtOnce * whole / part)));
      }
    }
}

TEST_CASE("pieces: the paper's shapes take little more than the slowest of their queues") {
  for (const ConvProblem& p : {problem_of(1, 64, 8192, 4096), problem_of(1, 256, 1024, 1024),
                               problem_of(512, 64, 256, 256)}) {
    CAPTURE(p.str());
    const auto size = choose_pieces(p, piece_bytes(p, {p.n, p.h}), kCosts);
    REQUIRE(size);
    const double bytes = static_cast<double>(p.n * p.c * p.h * p.w) * sizeof(float);
    const double bound = std::max(bytes * kCosts.to_host, p.flops() / 2 * kCosts.multiply_add);
    CHECK(predict_seconds(p, *size, kCosts) < 1.25 * bound);
  }
}

TEST_CASE("pieces: nothing is chosen if no row fits") {
  CHECK_FALSE(choose_pieces(problem_of(1, 64, 64, 64), 1000, kCosts));
}

}  // namespace kaiseki::conv
