// SPDX-License-Identifier: MIT
// Sorts pairs of a 32-bit key and an index. The keys order as the values do, and equal keys order
// by their index. Long rows take a radix sort, and rows of f64 a comparison sort.
#include "matrix/backend/operations/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "matrix/backend/cpu/is_nan.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 16384;  // elements per task
constexpr int64_t kShort = 512;   // a comparison sort is faster below
constexpr int kDigit = 8, kKeyBits = 32;
using Pairs = std::vector<uint64_t>;  // the key in the upper half

uint32_t sort_key(float value) {
  if (value == 0) value = 0;  // -0 equals 0
  const auto bits = std::bit_cast<uint32_t>(value);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
uint32_t sort_key(int32_t value) { return static_cast<uint32_t>(value) ^ 0x80000000u; }
uint32_t sort_key(uint8_t value) { return value; }
uint32_t sort_key(bool value) { return value; }

template <typename T>
uint32_t directed_key(T value, bool descending) {
  if (cpu::is_nan(value)) return ~uint32_t{0};  // no number has this key
  return descending ? ~sort_key(value) : sort_key(value);
}

/// Sorts by the keys, one digit after the other. Does not change the order of equal digits.
void radix_sort(Pairs& pairs, Pairs& spare) {
  spare.resize(pairs.size());
  for (int shift = kKeyBits; shift < 2 * kKeyBits; shift += kDigit) {
    std::array<size_t, size_t{1} << kDigit> start{};
    auto digit = [shift](uint64_t pair) { return pair >> shift & ((1u << kDigit) - 1); };
    for (uint64_t pair : pairs) ++start[digit(pair)];
    if (start[digit(pairs[0])] == pairs.size()) continue;
    size_t total = 0;
    for (size_t& count : start) total += std::exchange(count, total);
    for (uint64_t pair : pairs) spare[start[digit(pair)]++] = pair;
    pairs.swap(spare);
  }
}

template <typename T>
void argsort_typed(const ArgsortArgs& args) {
  const T* x = args.input->data<T>();
  int32_t* out = args.output->overwrite<int32_t>();
  const int64_t n = args.n;
  parallel_for(args.rows, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
    Pairs pairs(static_cast<size_t>(n)), spare;
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t i = 0; i < n; ++i)
        pairs[static_cast<size_t>(i)] = uint64_t{directed_key(x[row * n + i], args.descending)}
                                            << kKeyBits |
                                        static_cast<uint64_t>(i);
      if (args.leading <= n / 8)
        std::partial_sort(pairs.begin(), pairs.begin() + args.leading, pairs.end());
      else if (n < kShort)
        std::sort(pairs.begin(), pairs.end());
      else
        radix_sort(pairs, spare);
      for (int64_t i = 0; i < n; ++i)
        out[row * n + i] = static_cast<int32_t>(pairs[static_cast<size_t>(i)]);
    }
  });
}

/// f64 has no key of 32 bits.
void argsort_doubles(const ArgsortArgs& args) {
  const double* x = args.input->data<double>();
  int32_t* out = args.output->overwrite<int32_t>();
  const int64_t n = args.n;
  parallel_for(args.rows, std::max<int64_t>(1, kWork / n), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const double* value = x + row * n;
      int32_t* order = out + row * n;
      std::iota(order, order + n, 0);
      std::stable_sort(order, order + n, [&](int32_t i, int32_t j) {
        const double a = value[i], b = value[j];
        if (cpu::is_nan(a) || cpu::is_nan(b)) return cpu::is_nan(b) && !cpu::is_nan(a);
        return args.descending ? a > b : a < b;
      });
    }
  });
}

template <typename T>
void search_typed(const SearchSortedArgs& args) {
  const T *sorted = args.sorted->data<T>(), *values = args.values->data<T>();
  int32_t* out = args.output->overwrite<int32_t>();
  auto less = [](T a, T b) { return a < b || (cpu::is_nan(b) && !cpu::is_nan(a)); };
  parallel_for(args.values->size(), kWork, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* place = args.right ? std::upper_bound(sorted, sorted + args.n, values[i], less)
                                  : std::lower_bound(sorted, sorted + args.n, values[i], less);
      out[i] = static_cast<int32_t>(place - sorted);
    }
  });
}

void argsort(const ArgsortArgs& args) {
  with_type(args.input->dtype(), [&](auto zero) {
    if constexpr (std::is_same_v<decltype(zero), double>)
      argsort_doubles(args);
    else
      argsort_typed<decltype(zero)>(args);
  });
}

void search_sorted(const SearchSortedArgs& args) {
  with_type(args.values->dtype(), [&](auto zero) { search_typed<decltype(zero)>(args); });
}

}  // namespace

namespace cpu {

void add_sort(KernelTable& kernels) {
  kernels.add(kArgsort, argsort);
  kernels.add(kSearchSorted, search_sorted);
}

}  // namespace cpu

}  // namespace kaiseki
