// SPDX-License-Identifier: MIT
// The sample functions, compared with known values.
#include "dist/samples/samples.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"

using namespace kaiseki;
using namespace kaiseki::dist;

namespace {

std::string run(const NodeFunction& function, const std::string& input) {
  const TicketContext context{.blobs = {}, .fetch = {}, .cancelled = [] { return false; }};
  const ByteVector result = function(as_bytes(input), context);
  return {reinterpret_cast<const char*>(result.data()), result.size()};
}

}  // namespace

TEST_CASE("samples: prime numbers") {
  std::vector<bool> composite(1001);
  for (size_t i = 2; i <= 1000; ++i)
    for (size_t j = 2 * i; j <= 1000; j += i) composite[j] = true;
  int count = 0;
  for (size_t i = 0; i <= 1000; ++i) {
    const bool prime = run(is_prime, std::to_string(i)) == "true";
    CHECK(prime == (i >= 2 && !composite[i]));
    count += prime;
  }
  CHECK(count == 168);
  CHECK(run(is_prime, "9007199254740881") == "true");  // the largest below 2^53
  CHECK(run(is_prime, "9007199254740883") == "false");
  for (const char* bad : {"", "-1", "1.5", "x", "7 ", "99999999999999999999"})
    CHECK_THROWS_AS(run(is_prime, bad), Error);
}

TEST_CASE("samples: pi") {
  double inside = 0;
  for (int seed = 0; seed < 20; ++seed)
    inside += std::stod(
        run(monte_carlo_pi, "{\"seed\": " + std::to_string(seed) + ", \"points\": 100000}"));
  CHECK(std::abs(4 * inside / 2e6 - M_PI) < 5 * 1.642 / std::sqrt(2e6));
  CHECK(run(monte_carlo_pi, "{\"seed\": 1}") != run(monte_carlo_pi, "{\"seed\": 2}"));
  CHECK_THROWS_AS(run(monte_carlo_pi, "{\"points\": 0}"), Error);
}

TEST_CASE("samples: a tile of the Mandelbrot set") {
  const std::string tile =
      run(mandelbrot, R"({"left": -2, "top": 1, "step": 0.5, "width": 7, "height": 5})");
  REQUIRE(tile.size() == 35);
  auto at = [&](int row, int column) {
    return static_cast<uint8_t>(tile[static_cast<size_t>(row * 7 + column)]);
  };
  CHECK(at(2, 0) == 255);  // -2
  CHECK(at(2, 4) == 255);  // 0
  CHECK(at(2, 6) == 3);    // 1: 0, 1, 2, 5
  CHECK(at(0, 4) == 255);  // i
  CHECK(at(0, 0) == 1);    // -2 + i
  CHECK_THROWS_AS(run(mandelbrot, "{\"width\": 5000}"), Error);
}
