// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/philox_words.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/philox_words.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/random.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

int64_t philox_blocks(uint64_t, uint64_t, uint64_t, int64_t, uint32_t*) { return 0; }

#else

using U64 = hn::ScalableTag<uint64_t>;
using U32 = hn::Repartition<uint32_t, U64>;
using VU64 = hn::Vec<U64>;

/// The low words of a times b, as 64 bits.
HWY_INLINE VU64 multiply_low(U32 d, VU64 a, VU64 b) {
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

/// Whole counters from `counter` on, four words each; returns how many words it wrote. Each lane
/// of 64 bits is a counter; what its upper half holds does not matter until the end.
int64_t philox_blocks(uint64_t seed, uint64_t stream, uint64_t counter, int64_t blocks,
                      uint32_t* out) {
  const U64 d;
  const U32 d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const VU64 m0 = hn::Set(d, uint64_t{0xD2511F53}), m1 = hn::Set(d, uint64_t{0xCD9E8D57});
  alignas(64) uint64_t words[4][HWY_MAX_BYTES / sizeof(uint64_t)];
  int64_t done = 0;
  for (; done + lanes <= blocks; done += lanes) {
    const VU64 index =
        hn::Add(hn::Set(d, counter + static_cast<uint64_t>(done)), hn::Iota(d, uint64_t{0}));
    VU64 c0 = index, c1 = hn::ShiftRight<32>(index);
    VU64 c2 = hn::Set(d, stream), c3 = hn::Set(d, stream >> 32);
    auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const VU64 a = multiply_low(d32, c0, m0), b = multiply_low(d32, c2, m1);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), hn::Set(d, uint64_t{key0}));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), hn::Set(d, uint64_t{key1}));
      c1 = b;
      c3 = a;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
    hn::Store(c0, d, words[0]);
    hn::Store(c1, d, words[1]);
    hn::Store(c2, d, words[2]);
    hn::Store(c3, d, words[3]);
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int w = 0; w < 4; ++w)
        out[(done + lane) * 4 + w] = static_cast<uint32_t>(words[w][lane]);
  }
  return done * 4;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(philox_blocks);

void philox_words(uint64_t seed, uint64_t stream, uint64_t position, int64_t count, uint32_t* out) {
  Random random(seed, stream);
  random.seek(position);
  for (; random.position() % 4 && count > 0; --count) *out++ = random.next();
  int64_t done =
      HWY_DYNAMIC_DISPATCH(philox_blocks)(seed, stream, random.position() / 4, count / 4, out);
  random.seek(random.position() + static_cast<uint64_t>(done));
  for (; done < count; ++done) out[done] = random.next();
}

}  // namespace kaiseki::cpu
#endif
