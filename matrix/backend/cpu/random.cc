// SPDX-License-Identifier: MIT
// Random tensors: element i from word i of the stream (normal: words 2i and 2i+1).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "matrix/backend/cpu/cpu_backend.h"
#include "matrix/backend/cpu/philox_words.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kBlock = 1024;  // words made at once
constexpr int64_t kGrain = 16 * kBlock;

float unit(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

float normal(uint32_t first, uint32_t second) {
  double u = (first + 1.0) * 0x1p-32, v = second * 0x1p-32;
  return static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
}

/// Calls body(words, out, elements) over the whole output, `each` words an element.
template <class Body>
void for_each_block(const RandomArgs& args, int64_t each, Body body) {
  float* out = args.output->overwrite<float>();
  parallel_for(args.output->size(), kGrain / each, [&](int64_t begin, int64_t end) {
    std::array<uint32_t, kBlock> words;
    for (; begin < end; begin += kBlock / each) {
      int64_t n = std::min(kBlock / each, end - begin);
      cpu::philox_words(args.seed, args.stream, args.position + static_cast<uint64_t>(begin * each),
                        n * each, words.data());
      body(words.data(), out + begin, n);
    }
  });
}

}  // namespace

void CpuBackend::random(const RandomArgs& args) {
  float a = args.a, b = args.b;
  switch (args.kind) {
    case RandomArgs::Kind::uniform: {
      float below = b > a ? std::nextafter(b, a) : b;
      for_each_block(args, 1, [&](const uint32_t* words, float* out, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          float value = a + (b - a) * unit(words[i]);
          out[i] = value < b ? value : below;
        }
      });
      return;
    }
    case RandomArgs::Kind::normal:
      for_each_block(args, 2, [&](const uint32_t* words, float* out, int64_t n) {
        for (int64_t i = 0; i < n; ++i) out[i] = a + b * normal(words[2 * i], words[2 * i + 1]);
      });
      return;
    case RandomArgs::Kind::bernoulli:
      for_each_block(args, 1, [&](const uint32_t* words, float* out, int64_t n) {
        for (int64_t i = 0; i < n; ++i) out[i] = unit(words[i]) < a ? b : 0;
      });
  }
}

}  // namespace kaiseki
