// SPDX-License-Identifier: MIT
// The blocked matrix product. Splits C into tasks, and each task into blocks that fit the caches.
#include "matrix/backend/cpu/gemm_blocked.h"

#include <algorithm>
#include <array>
#include <bit>

#include "matrix/ceil_div.h"
#include "matrix/memory/host.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kLine = 16;  // floats in a cache line
// With this maximum, a panel of A (14 x 640 floats) stays in the first-level cache.
constexpr int64_t kMaxK = 640;
constexpr int64_t kPanelsA = 148;  // panels of A that are packed together (2072 x 640)
constexpr int64_t kPanelsB = 16;   // maximum number of panels in a block of B
// Maximum floats in a block of B: half of the second-level cache.
constexpr int64_t kBlockB = 1 << 18;
constexpr int64_t kRowsB = 16;      // rows of B that are packed together
constexpr double kTaskFlops = 1e6;  // about 6 us; smaller tasks do not justify another thread
// Tasks per thread if the grid's powers of two do not divide evenly among the threads.
constexpr int kUnevenTasks = 4;
constexpr int64_t kFewTiles = 16, kLeastPieces = 3;  // limits for splitting k
constexpr int64_t kSplits = 32;

/// The length of the pieces that k is split into.
int64_t k_block_of(int64_t k) {
  constexpr int64_t kStep = 8;
  if (k <= kMaxK) return round_up(k, kStep);
  return round_up(ceil_div(k, ceil_div(k, kMaxK)), kStep);
}

thread_local Scratch scratch_a, scratch_b, scratch_shared, scratch_partial;

struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

/// Splits a Range into pieces of nearly equal size. Divides only once, because divisions are
/// noticeable in small products.
class EvenRanges {
 public:
  EvenRanges(Range range, int64_t count)
      : range_(range),
        size_(count == 1 ? range.size() : range.size() / count),
        longer_(count == 1 ? 0 : range.size() - size_ * count) {}
  Range operator[](int64_t index) const {
    const int64_t begin = range_.begin + index * size_ + std::min(index, longer_);
    return {begin, begin + size_ + (index < longer_ ? 1 : 0)};
  }

 private:
  Range range_;
  int64_t size_, longer_;
};

void pack_rows(const Product& p, Range rows, Range k, float* to) {
  const GemmKernels& kernels = gemm_kernels();
  const int count = static_cast<int>(rows.size());
  (p.a.by_rows ? kernels.pack_transposed : kernels.pack)(
      k.size(), count, count, p.a.at(k.begin, rows.begin), p.a.stride, to);
}

class GemmTask {
 public:
  /// packed_a: the output of pack_rows() for all rows and this depth, or nullptr.
  GemmTask(const Product& product, Range rows, Range columns, Range depth,
           const float* packed_a = nullptr)
      : p_(product), columns_(columns), depth_(depth), packed_a_(packed_a) {
    row_panels_ = ceil_div(rows.size(), kernels_.rows);
    panel_rows_ = EvenRanges(rows, row_panels_);
    k_block_ = k_block_of(p_.k);
    if (!packed_a && !p_.a.in_place)
      buffer_a_ = scratch_a.reserve(std::min(row_panels_, kPanelsA) * kernels_.rows * k_block_);
    pitch_b_ = kernels_.columns() * k_block_ + kLine;  // offsets panels to different cache sets
    panels_ = ceil_div(columns.size(), kernels_.columns());
    if (panels_ > kPanelsB || panels_ * pitch_b_ > kBlockB)
      column_blocks_ = ceil_div(panels_, std::clamp<int64_t>(kBlockB / pitch_b_, 1, kPanelsB));
    block_panels_ = EvenRanges({0, panels_}, column_blocks_);
    buffer_b_ = scratch_b.reserve(block_panels_[0].size() * pitch_b_);
  }

  /// Packs A once for each piece of k, and B once for each chunk of rows.
  void run() {
    const int64_t pieces = depth_.size() <= k_block_ ? 1 : ceil_div(depth_.size(), k_block_);
    const bool k_first = !p_.a.in_place;
    const int64_t outer = k_first ? pieces : column_blocks_;
    const int64_t inner = k_first ? column_blocks_ : pieces;
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t j = 0; j < inner; ++j) block(columns_of(k_first ? j : i), k_of(k_first ? i : j));
  }

 private:
  struct PanelStrip {
    const float* data;
    int64_t stride, begin;
    int size;
  };

  Range columns_of(int64_t block) const {
    const Range panels = block_panels_[block];
    const int64_t width = kernels_.columns();
    return {columns_.begin + panels.begin * width,
            std::min(columns_.begin + panels.end * width, columns_.end)};
  }
  Range k_of(int64_t piece) const {
    const int64_t begin = depth_.begin + piece * k_block_;
    return {begin, std::min(begin + k_block_, depth_.end)};
  }

  void block(Range columns, Range k) {
    const int pieces_b = pack_b(columns, k);
    const Scale scale{p_.alpha, k.begin == depth_.begin ? p_.beta : 1};
    const bool last_k = k.end == depth_.end && !p_.epilogue.empty();
    for (int64_t first = 0; first < row_panels_; first += kPanelsA) {
      const int64_t last = std::min(first + kPanelsA, row_panels_);
      throw_if_stopped();
      pack_a(first, last, k);
      for (int64_t i = 0; i < last - first; ++i)
        for (int j = 0; j < pieces_b; ++j) {
          tile(a_[i], b_[j], k.size(), scale);
          if (last_k) finish(a_[i], b_[j]);
        }
    }
  }

  int pack_b(Range columns, Range k) {
    const int width = kernels_.columns(), lanes = kernels_.lanes;
    const int pieces = static_cast<int>(ceil_div(columns.size(), width));
    const int64_t step = p_.b.by_rows ? k.size() : kRowsB;
    for (int64_t at = 0; at < k.size(); at += step)
      for (int i = 0; i < pieces; ++i) {
        const int64_t j = columns.begin + i * width;
        const int count = static_cast<int>(std::min<int64_t>(width, columns.end - j));
        const int whole = round_up(count, lanes);
        if (p_.b.in_place && !p_.b.by_rows && count == whole) {
          b_[i] = {p_.b.at(k.begin, j), p_.b.stride, j, count};
          continue;
        }
        float* buffer = buffer_b_ + i * pitch_b_;
        (p_.b.by_rows ? kernels_.pack_transposed : kernels_.pack)(
            std::min(step, k.size() - at), count, whole, p_.b.at(k.begin + at, j), p_.b.stride,
            buffer + at * whole);
        b_[i] = {buffer, whole, j, count};
      }
    return pieces;
  }

  void pack_a(int64_t first, int64_t last, Range k) {
    if (first == held_row_ && k.begin == held_k_) return;
    held_row_ = first;
    held_k_ = k.begin;
    float* buffer = buffer_a_;
    for (int64_t i = first; i < last; ++i) {
      const Range rows = panel_rows_[i];
      const int count = static_cast<int>(rows.size());
      if (p_.a.in_place) {
        a_[i - first] = {p_.a.at(k.begin, rows.begin), p_.a.stride, rows.begin, count};
      } else if (packed_a_) {
        a_[i - first] = {packed_a_ + rows.begin * k.size(), count, rows.begin, count};
      } else {
        pack_rows(p_, rows, k, buffer);
        a_[i - first] = {buffer, count, rows.begin, count};
        buffer += count * k.size();
      }
    }
  }

  void tile(const PanelStrip& a, const PanelStrip& b, int64_t k, const Scale& scale) {
    const int vectors = ceil_div(b.size, kernels_.lanes);
    const bool whole = vectors * kernels_.lanes == b.size;
    const TileFn multiply = kernels_.tile[p_.a.in_place && p_.a.by_rows][vectors - 1][a.size - 1];
    float* c = at(a, b);
    if (whole && !p_.transposed)
      return multiply(k, a.data, a.stride, b.data, b.stride, scale, c, p_.ldc);
    const int64_t stride = kernels_.columns();
    multiply(k, a.data, a.stride, b.data, b.stride, {1, 0}, edge_.data(), stride);
    if (!p_.transposed)
      return kernels_.merge(a.size, b.size, edge_.data(), stride, scale.alpha, scale.beta, c,
                            p_.ldc);
    kernels_.pack_transposed(b.size, a.size, a.size, edge_.data(), stride, turned_.data());
    kernels_.merge(b.size, a.size, turned_.data(), a.size, scale.alpha, scale.beta, c, p_.ldc);
  }

  void finish(const PanelStrip& a, const PanelStrip& b) const {
    const PanelStrip &row = p_.transposed ? b : a, &column = p_.transposed ? a : b;
    Epilogue epilogue = p_.epilogue;
    if (epilogue.bias_row) epilogue.bias_row += row.begin;
    if (epilogue.bias_col) epilogue.bias_col += column.begin;
    kernels_.finish(epilogue, row.size, column.size, at(a, b), p_.ldc);
  }

  float* at(const PanelStrip& a, const PanelStrip& b) const {
    return p_.c + (p_.transposed ? b.begin * p_.ldc + a.begin : a.begin * p_.ldc + b.begin);
  }

  const GemmKernels& kernels_ = gemm_kernels();
  const Product& p_;
  const Range columns_, depth_;
  const float* const packed_a_;
  int64_t row_panels_, k_block_, pitch_b_, panels_, column_blocks_ = 1;
  EvenRanges panel_rows_{{}, 1}, block_panels_{{}, 1};
  int64_t held_row_ = -1, held_k_ = -1;
  float *buffer_a_ = nullptr, *buffer_b_;
  std::array<PanelStrip, kPanelsA> a_;
  std::array<PanelStrip, kPanelsB> b_;
  alignas(64) std::array<float, GemmKernels::kMaxRows * 64> edge_, turned_;
};

struct Grid {
  int64_t rows = 1, columns = 1;
};

/// Returns whether packed A is small enough for all threads to pack it once and share it.
bool shares_a(const Product& p) { return !p.a.in_place && p.m <= kPanelsA * gemm_kernels().rows; }

/// Splits rows or columns. Chooses the split that makes repacking the other operand cheaper.
Grid task_grid(const Product& p) {
  const double most = 2.0 * p.m * p.n * p.k / kTaskFlops;
  if (most < 2 || thread_count() == 1) return {};
  const GemmKernels& kernels = gemm_kernels();
  const int threads = thread_count();
  const bool even = std::has_single_bit(static_cast<unsigned>(threads));
  const auto want =
      static_cast<int64_t>(std::min<double>(even ? threads : threads * kUnevenTasks, most));
  const double row_cost = p.b.in_place ? 0 : p.n;
  const double column_cost = p.a.in_place || shares_a(p) ? 0 : p.m;
  Grid grid;
  while (grid.rows * grid.columns < want) {
    const int64_t rows = p.m / grid.rows, columns = p.n / grid.columns;
    const bool can_rows = rows >= 2 * kernels.rows, can_columns = columns >= 2 * kernels.columns();
    if (!can_rows && !can_columns) break;
    const bool by_rows = row_cost == column_cost ? rows >= columns : row_cost < column_cost;
    if (can_rows && (by_rows || !can_columns))
      grid.rows *= 2;
    else
      grid.columns *= 2;
  }
  return grid;
}

/// Splits at tile borders, so that a task has no narrow tile in its middle.
Range columns_of(const Product& p, const Grid& grid, int64_t index) {
  const int64_t width = gemm_kernels().columns();
  const Range tiles = EvenRanges({0, ceil_div(p.n, width)}, grid.columns)[index];
  return {tiles.begin * width, std::min(tiles.end * width, p.n)};
}

/// The threads pack all rows of A together, one piece of k at a time. The tasks then share it.
void run_columns(const Product& p, const Grid& grid) {
  const int64_t k_block = k_block_of(p.k), panels = ceil_div(p.m, gemm_kernels().rows);
  const EvenRanges rows({0, p.m}, panels);
  float* packed = scratch_shared.reserve(p.m * k_block);
  for (int64_t begin = 0; begin < p.k; begin += k_block) {
    const Range k{begin, std::min(begin + k_block, p.k)};
    parallel_for(panels, ceil_div(panels, grid.columns), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        pack_rows(p, rows[i], k, packed + rows[i].begin * k.size());
    });
    Product part = p;
    if (begin > 0) part.beta = 1;
    if (k.end < p.k) part.epilogue = {};
    parallel_for(grid.columns, 1, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t)
        if (const Range columns = columns_of(p, grid, t); columns.size() > 0)
          GemmTask(part, {0, p.m}, columns, k, packed).run();
    });
  }
}

/// For a small C and a large k. Computes the sums of several pieces of k separately and adds them
/// in order. The result has the same bits as with one task.
void run_split(const Product& p) {
  const GemmKernels& kernels = gemm_kernels();
  const int64_t k_block = k_block_of(p.k), pieces = ceil_div(p.k, k_block), size = p.m * p.n;
  const int64_t rows = p.transposed ? p.n : p.m, columns = p.transposed ? p.m : p.n;
  float* partial = scratch_partial.reserve(std::min(pieces, kSplits) * size);
  for (int64_t first = 0; first < pieces; first += kSplits) {
    const int64_t count = std::min(kSplits, pieces - first);
    parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        Product part = p;
        part.c = partial + s * size, part.ldc = columns;
        part.alpha = 1, part.beta = 0, part.epilogue = {};
        const int64_t k = (first + s) * k_block;
        GemmTask(part, {0, p.m}, {0, p.n}, {k, std::min(k + k_block, p.k)}).run();
      }
    });
    for (int64_t s = 0; s < count; ++s)
      kernels.merge(rows, columns, partial + s * size, columns, p.alpha,
                    first + s == 0 ? p.beta : 1, p.c, p.ldc);
  }
  if (!p.epilogue.empty()) kernels.finish(p.epilogue, rows, columns, p.c, p.ldc);
}

}  // namespace

void gemm_blocked(const Product& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k > kLeastPieces * kMaxK) {
    const GemmKernels& kernels = gemm_kernels();
    const int64_t tiles = ceil_div(p.m, kernels.rows) * ceil_div(p.n, kernels.columns());
    if (tiles <= kFewTiles) return run_split(p);
  }
  const Grid grid = task_grid(p);
  if (grid.rows * grid.columns == 1) return GemmTask(p, {0, p.m}, {0, p.n}, {0, p.k}).run();
  if (grid.rows == 1 && shares_a(p)) return run_columns(p, grid);
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Range rows = EvenRanges({0, p.m}, grid.rows)[t / grid.columns];
      const Range columns = columns_of(p, grid, t % grid.columns);
      if (rows.size() > 0 && columns.size() > 0) GemmTask(p, rows, columns, {0, p.k}).run();
    }
  });
}

}  // namespace kaiseki::cpu
