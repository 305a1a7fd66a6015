// SPDX-License-Identifier: MIT
// Random tensors: element i comes from word i of the stream (normal: words 2i and 2i+1).
#include "matrix/backend/operations/random.h"

#include <algorithm>
#include <array>

#include "matrix/backend/cpu/random_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kBlock = 1024;  // words that are computed together
constexpr int64_t kGrain = 16 * kBlock;

/// Calls body(words, out, elements) over the whole output, with `each` words per element.
template <typename T, class Args, class Body>
void for_each_block(const Args& args, int64_t each, Body body) {
  T* out = args.output->template overwrite<T>();
  parallel_for(args.output->size(), kGrain / each, [&](int64_t begin, int64_t end) {
    std::array<uint32_t, kBlock> words;
    for (; begin < end; begin += kBlock / each) {
      int64_t n = std::min(kBlock / each, end - begin);
      uint64_t position = args.position + static_cast<uint64_t>(begin * each);
      cpu::philox_words(args.seed, args.stream, position, n * each, words.data());
      body(words.data(), out + begin, static_cast<size_t>(n));
    }
  });
}

void random(const RandomArgs& args) {
  switch (args.kind) {
    case RandomArgs::Kind::uniform:
      return for_each_block<float>(args, 1, [&](const uint32_t* words, float* out, size_t n) {
        cpu::uniform_from_words(words, args.a, args.b, out, n);
      });
    case RandomArgs::Kind::normal:
      return for_each_block<float>(args, 2, [&](const uint32_t* words, float* out, size_t n) {
        cpu::normal_from_words(words, args.a, args.b, out, n);
      });
    case RandomArgs::Kind::bernoulli:
      return for_each_block<float>(args, 1, [&](const uint32_t* words, float* out, size_t n) {
        cpu::bernoulli_from_words(words, args.a, args.b, out, n);
      });
  }
}

void random_integers(const RandomIntegersArgs& args) {
  for_each_block<int32_t>(args, 1, [&](const uint32_t* words, int32_t* out, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const auto above = static_cast<uint32_t>(uint64_t{words[i]} * args.range >> 32);
      out[i] = static_cast<int32_t>(static_cast<uint32_t>(args.low) + above);
    }
  });
}

}  // namespace

namespace cpu {

void add_random(KernelTable& kernels) {
  kernels.add(kRandom, random);
  kernels.add(kRandomIntegers, random_integers);
}

}  // namespace cpu

}  // namespace kaiseki
