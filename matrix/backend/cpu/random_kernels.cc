// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/random_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/random_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/math-inl.h"
#include "matrix/random.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

int64_t philox_blocks(uint64_t, uint64_t, uint64_t, int64_t, uint32_t*) { return 0; }

#else

using U64 = hn::ScalableTag<uint64_t>;
using U32 = hn::Repartition<uint32_t, U64>;
using VU64 = hn::Vec<U64>;

/// The 64-bit products of the low words of a and b.
HWY_INLINE VU64 multiply_low(U32 d, VU64 a, VU64 b) {
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, b));
}

/// Computes whole counters from `counter` on, four words each. Returns the number of words written.
/// Each 64-bit lane is one counter. Its upper half is undefined until the end.
int64_t philox_blocks(uint64_t seed, uint64_t stream, uint64_t counter, int64_t blocks,
                      uint32_t* out) {
  const U64 d;
  const U32 d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const VU64 m0 = hn::Set(d, uint64_t{0xD2511F53}), m1 = hn::Set(d, uint64_t{0xCD9E8D57});
  const VU64 low = hn::Set(d, uint64_t{0xFFFFFFFF});
  alignas(64) uint64_t words[2 * HWY_MAX_BYTES / sizeof(uint64_t)];
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
    const VU64 w01 = hn::Or(hn::And(c0, low), hn::ShiftLeft<32>(c1));
    const VU64 w23 = hn::Or(hn::And(c2, low), hn::ShiftLeft<32>(c3));
    hn::StoreInterleaved2(w01, w23, d, words);
    std::memcpy(out + done * 4, words, static_cast<size_t>(lanes) * 16);
  }
  return done * 4;
}

#endif

#if HWY_TARGET == HWY_SCALAR || !HWY_HAVE_FLOAT64

void normals(const uint32_t* words, float mean, float deviation, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double u = (words[2 * i] + 1.0) * 0x1p-32, v = words[2 * i + 1] * 0x1p-32;
    out[i] = mean + deviation * static_cast<float>(std::sqrt(-2 * std::log(u)) *
                                                   std::cos(6.283185307179586 * v));
  }
}

#else

using F64 = hn::ScalableTag<double>;
using VF64 = hn::Vec<F64>;

/// Converts integers below 2^32 to double.
HWY_INLINE VF64 to_double(U64 d, VU64 v) {
  const VU64 exponent = hn::Set(d, uint64_t{0x4330000000000000});
  const F64 df;
  return hn::Sub(hn::BitCast(df, hn::Or(v, exponent)), hn::Set(df, 0x1p52));
}

void normals(const uint32_t* words, float mean, float deviation, float* out, size_t count) {
  const F64 d;
  const U64 du;
  const hn::Rebind<float, F64> df;
  const size_t lanes = hn::Lanes(d);
  const VF64 unit = hn::Set(d, 0x1p-32);
  alignas(64) uint64_t pairs[HWY_MAX_BYTES / sizeof(uint64_t)] = {};
  alignas(64) float result[HWY_MAX_BYTES / sizeof(uint64_t)];
  for (size_t i = 0; i < count; i += lanes) {
    const size_t n = std::min(lanes, count - i);
    std::memcpy(pairs, words + 2 * i, n * sizeof(uint64_t));
    const VU64 pair = hn::Load(du, pairs);
    const VF64 first = to_double(du, hn::And(pair, hn::Set(du, uint64_t{0xFFFFFFFF})));
    const VF64 second = to_double(du, hn::ShiftRight<32>(pair));
    const VF64 u = hn::Mul(hn::Add(first, hn::Set(d, 1.0)), unit);
    const VF64 angle = hn::Mul(hn::Mul(second, unit), hn::Set(d, 6.283185307179586));
    const VF64 radius = hn::Sqrt(hn::Mul(hn::Set(d, -2.0), hn::Log(d, u)));
    const auto z = hn::DemoteTo(df, hn::Mul(radius, hn::Cos(d, angle)));
    hn::Store(hn::Add(hn::Set(df, mean), hn::Mul(hn::Set(df, deviation), z)), df, result);
    std::memcpy(out + i, result, n * sizeof(float));
  }
}

#endif

/// Computes f(u) for each word. u is the upper 24 bits of the word as a fraction.
template <class Function>
HWY_INLINE void map_units(const uint32_t* words, float* out, size_t count, Function f) {
  const F32 d;
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const size_t lanes = hn::Lanes(d);
  const VF32 unit = hn::Set(d, 0x1p-24f);
  auto at = [&](const uint32_t* from) HWY_ATTR {
    const auto top = hn::BitCast(di, hn::ShiftRight<8>(hn::LoadU(du, from)));
    return f(hn::Mul(hn::ConvertTo(d, top), unit));
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(at(words + i), d, out + i);
  if (i == count) return;
  alignas(64) uint32_t rest[HWY_MAX_BYTES / sizeof(uint32_t)] = {};
  std::memcpy(rest, words + i, (count - i) * sizeof(uint32_t));
  store_part(d, at(rest), out + i, count - i);
}

void uniforms(const uint32_t* words, float low, float high, float* out, size_t count) {
  const F32 d;
  const VF32 vl = hn::Set(d, low), vw = hn::Set(d, high - low), vh = hn::Set(d, high);
  const VF32 below = hn::Set(d, high > low ? std::nextafter(high, low) : high);
  map_units(words, out, count, [&](VF32 u) HWY_ATTR {
    const VF32 v = hn::Add(vl, hn::Mul(vw, u));
    return hn::IfThenElse(hn::Lt(v, vh), v, below);
  });
}

void bernoullis(const uint32_t* words, float probability, float value, float* out, size_t count) {
  const F32 d;
  const VF32 p = hn::Set(d, probability), v = hn::Set(d, value);
  map_units(words, out, count,
            [&](VF32 u) HWY_ATTR { return hn::IfThenElseZero(hn::Lt(u, p), v); });
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(philox_blocks);
HWY_EXPORT(uniforms);
HWY_EXPORT(bernoullis);
HWY_EXPORT(normals);

void philox_words(uint64_t seed, uint64_t stream, uint64_t position, int64_t count, uint32_t* out) {
  Random random(seed, stream);
  random.seek(position);
  for (; random.position() % 4 && count > 0; --count) *out++ = random.next();
  int64_t done =
      HWY_DYNAMIC_DISPATCH(philox_blocks)(seed, stream, random.position() / 4, count / 4, out);
  random.seek(random.position() + static_cast<uint64_t>(done));
  for (; done < count; ++done) out[done] = random.next();
}

void uniform_from_words(const uint32_t* words, float low, float high, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(uniforms)(words, low, high, out, count);
}

void bernoulli_from_words(const uint32_t* words, float probability, float value, float* out,
                          size_t count) {
  HWY_DYNAMIC_DISPATCH(bernoullis)(words, probability, value, out, count);
}

void normal_from_words(const uint32_t* words, float mean, float deviation, float* out,
                       size_t count) {
  HWY_DYNAMIC_DISPATCH(normals)(words, mean, deviation, out, count);
}

}  // namespace kaiseki::cpu
#endif
