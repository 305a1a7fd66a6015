// SPDX-License-Identifier: MIT
#include "matrix/random.h"

#include <cmath>

namespace kaiseki {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * c[0];
    uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return c;
}

uint32_t Random::next() {
  uint64_t block = position_ / 4;
  auto words = philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                       static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                      {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  return words[position_++ % 4];
}

float Random::uniform() { return static_cast<float>(next() >> 8) * 0x1p-24f; }

float Random::normal() {
  double u = (next() + 1.0) * 0x1p-32, v = next() * 0x1p-32;
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
}

uint64_t Random::below(uint64_t bound) {
  uint64_t limit = (~uint64_t{0} - bound + 1) % bound;  // 2^64 mod bound
  for (;;) {
    uint64_t high = next(), value = high << 32 | next();
    if (value >= limit) return value % bound;
  }
}

}  // namespace kaiseki
