// SPDX-License-Identifier: MIT
// Copies rows of a plane into scratch memory with room for padding. Columns with the same phase of
// the stride are stored together. Included once for each target, after foreach_target.h.
#if defined(KAISEKI_CPU_PADDED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KAISEKI_CPU_PADDED_ROWS_INL_H_
#undef KAISEKI_CPU_PADDED_ROWS_INL_H_
#else
#define KAISEKI_CPU_PADDED_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(i) so that vectors of n elements from each i cover 0..count. The last vector may
/// overlap the one before.
template <class Body>
HWY_INLINE void for_vectors(int64_t count, int64_t n, const Body& body) {
  for (int64_t i = 0; i < count; i += n) body(i + n <= count ? i : count - n);
}

template <class Body>
HWY_INLINE void for_all_pairs(int64_t pairs, const Body& body) {
  const auto run = [&](auto d) HWY_ATTR {
    for_vectors(pairs, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t i) HWY_ATTR { body(d, i); });
  };
  pairs >= 16  ? run(hn::CappedTag<float, 16>())
  : pairs >= 8 ? run(hn::CappedTag<float, 8>())
               : run(hn::CappedTag<float, 4>());
}

/// Stores column c of a row at even[c / 2] or odd[c / 2].
HWY_INLINE void split_row(const float* row, int64_t columns, float* even, float* odd) {
  const int64_t pairs = columns / 2;
  if (pairs < 4) {
    for (int64_t c = 0; c < columns; ++c) (c % 2 ? odd : even)[c / 2] = row[c];
    return;
  }
  for_all_pairs(pairs, [&](auto d, int64_t i) HWY_ATTR {
    hn::Vec<decltype(d)> a, b;
    hn::LoadInterleaved2(d, row + 2 * i, a, b);
    hn::StoreU(a, d, even + i);
    hn::StoreU(b, d, odd + i);
  });
  if (columns % 2) even[pairs] = row[columns - 1];
}

HWY_INLINE void join_row(const float* even, const float* odd, int64_t columns, float* row) {
  const int64_t pairs = columns / 2;
  if (pairs < 4) {
    for (int64_t c = 0; c < columns; ++c) row[c] = (c % 2 ? odd : even)[c / 2];
    return;
  }
  for_all_pairs(pairs, [&](auto d, int64_t i) HWY_ATTR {
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, row + 2 * i);
  });
  if (columns % 2) row[columns - 1] = even[pairs];
}

/// The layout of a row in scratch memory, for stride 1 or 2: `stride` phases of `pitch` floats.
/// Padded column c is element c / stride of phase c % stride.
struct PaddedRows {
  int64_t stride, padding, pitch, columns;

  int64_t size() const { return stride * pitch; }
  int64_t place(int64_t column) const { return column % stride * pitch + column / stride; }

  HWY_INLINE void put(const float* row, float* to) const {
    if (stride == 1)
      std::copy_n(row, columns, to + padding);
    else
      split_row(row, columns, to + place(padding), to + place(padding + 1));
  }
  HWY_INLINE void get(const float* from, float* row) const {
    if (stride == 1)
      std::copy_n(from + padding, columns, row);
    else
      join_row(from + place(padding), from + place(padding + 1), columns, row);
  }
};

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
