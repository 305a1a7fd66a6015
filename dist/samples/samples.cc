// SPDX-License-Identifier: MIT
// Compiled without fused multiply-add (dist/net/CMakeLists.txt), as JavaScript has none.
#include "dist/samples/samples.h"

#include "base/error.h"
#include "base/text.h"
#include "dist/net/json_fields.h"

namespace kaiseki::dist {
namespace {

ByteVector bytes_of(std::string_view text) {
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

/// The i-th number of a stream of 32 random bits: a hash of the counter.
uint32_t random_bits(uint32_t seed, uint32_t i) {
  uint32_t x = i * 0x9e3779b9u + seed * 0x85ebca6bu;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

}  // namespace

ByteVector is_prime(ByteView input, const TicketContext&) {
  const std::string_view text = as_text(input);
  const auto number = parse_number<uint64_t>(text);
  if (!number || *number > uint64_t{1} << 53)
    throw Error(message("primes", "expected a number up to 2^53, got '", text.substr(0, 40), "'"));
  const uint64_t n = *number;
  bool prime = n >= 2 && (n == 2 || n % 2 == 1);
  for (uint64_t d = 3; prime && d * d <= n; d += 2) prime = n % d != 0;
  return bytes_of(prime ? "true" : "false");
}

ByteVector monte_carlo_pi(ByteView input, const TicketContext& context) {
  const Fields fields(as_text(input));
  const auto seed = static_cast<uint32_t>(fields.integer("seed", 0, 0, 0xffffffff));
  const auto points = static_cast<uint32_t>(fields.integer("points", 100000, 1, 1000000000));
  int64_t inside = 0;
  for (uint32_t i = 0; i < points; ++i) {
    if (i % 65536 == 0 && context.cancelled()) throw Error("cancelled");
    const double x = random_bits(seed, 2 * i) * 0x1p-32, y = random_bits(seed, 2 * i + 1) * 0x1p-32;
    inside += x * x + y * y < 1;
  }
  return bytes_of(std::to_string(inside));
}

ByteVector mandelbrot(ByteView input, const TicketContext& context) {
  const Fields fields(as_text(input));
  const double left = fields.number("left", -2, -4, 4), top = fields.number("top", 1.25, -4, 4);
  const double step = fields.number("step", 0.01, 1e-15, 4);
  const int64_t width = fields.integer("width", 64, 1, 4096);
  const int64_t height = fields.integer("height", 64, 1, 4096);
  const int64_t iterations = fields.integer("iterations", 255, 1, 255);
  ByteVector tile;
  tile.reserve(static_cast<size_t>(width * height));
  for (int64_t row = 0; row < height; ++row) {
    if (context.cancelled()) throw Error("cancelled");
    for (int64_t column = 0; column < width; ++column) {
      const double a = left + static_cast<double>(column) * step;
      const double b = top - static_cast<double>(row) * step;
      double x = 0, y = 0;
      int64_t n = 0;
      while (n < iterations && x * x + y * y <= 4) {
        const double next = x * x - y * y + a;
        y = 2 * x * y + b;
        x = next;
        ++n;
      }
      tile.push_back(static_cast<std::byte>(n));
    }
  }
  return tile;
}

NodeFunctions sample_functions() {
  return {{"sample.primes", is_prime},
          {"sample.pi", monte_carlo_pi},
          {"sample.mandelbrot", mandelbrot}};
}

}  // namespace kaiseki::dist
