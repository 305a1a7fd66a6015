// SPDX-License-Identifier: MIT
// The features of samples for growing trees. A tree compares values only, so their ranks suffice,
// and they are small: one byte for a feature of up to 256 distinct values.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace kaiseki::ml {

/// Column-major. The rank of a value is the number of smaller distinct values of its feature.
class RankedColumns {
 public:
  RankedColumns() = default;
  /// x: [rows, features], row-major and finite, with less than 2^32 rows. Runs on all threads.
  RankedColumns(const float* x, int64_t rows, int64_t features);

  int64_t features() const { return static_cast<int64_t>(columns_.size()); }
  /// Copies the given rows of `from`. Keeps its own memory.
  void assign_rows(const RankedColumns& from, std::span<const uint32_t> rows);

  /// Returns f(ranks) for the ranks of a feature: a pointer to uint8_t, uint16_t or uint32_t.
  template <class F>
  decltype(auto) visit(int64_t feature, F&& f) const {
    return std::visit([&](const auto& ranks) { return f(ranks.data()); },
                      columns_[static_cast<size_t>(feature)]);
  }

 private:
  using Column = std::variant<std::vector<uint8_t>, std::vector<uint16_t>, std::vector<uint32_t>>;
  static Column ranks(const std::vector<float>& values);

  std::vector<Column> columns_;
};

}  // namespace kaiseki::ml
