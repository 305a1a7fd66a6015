// SPDX-License-Identifier: MIT
// The blocked matrix product: cuts C into tasks, and each task into blocks that fit the caches.
#include "matrix/backend/cpu/gemm_blocked.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kMaxK = 384;      // a panel of B (384 x 32 floats) stays in the first-level cache
constexpr int64_t kPanelsA = 36;    // a block of A (504 x 384) takes less than half of the second
constexpr int64_t kPanelsB = 32;    // a block of B (384 x 1024)
constexpr double kTaskFlops = 1e6;  // about 10 us: less is not worth another thread's attention
constexpr int kTasksPerThread = 4;
constexpr int64_t kFewTiles = 16;
constexpr int64_t kSplits = 32;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Floats that a thread keeps between calls.
class Scratch {
 public:
  float* reserve(int64_t count) {
    if (count > capacity_) {
      data_.reset(static_cast<float*>(std::aligned_alloc(64, ceil_div(count * 4, 4096) * 4096)));
      if (!data_) throw std::bad_alloc();
      capacity_ = count;
    }
    return data_.get();
  }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
  int64_t capacity_ = 0;
};

thread_local Scratch scratch_a, scratch_b, scratch_partial;

struct Problem {
  int64_t m, n, k;
  const PanelSource *a, *b;
  BlockedOutput out;
};

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

/// A Range cut in `pieces` of nearly the same size.
Range piece_of(Range range, int64_t pieces, int64_t index) {
  return {range.begin + range.size() * index / pieces,
          range.begin + range.size() * (index + 1) / pieces};
}

/// Calls f(offset, c, columns) for each group that columns j..j+columns of row i touch.
template <typename F>
void each_group(const BlockedOutput& out, int64_t i, int64_t j, int64_t columns, F f) {
  if (out.group == 0) return f(0, out.c + i * out.ldc + j, columns);
  for (int64_t done = 0; done < columns;) {
    const int64_t at = (j + done) % out.group;
    const int64_t part = std::min(columns - done, out.group - at);
    f(done, out.c + (j + done) / out.group * out.group_stride + i * out.ldc + at, part);
    done += part;
  }
}

class Task {
 public:
  Task(const Problem& problem, Range rows, Range columns, Range depth)
      : p_(problem), rows_(rows), columns_(columns), depth_(depth) {
    row_panels_ = ceil_div(rows.size(), kernels_.rows);
    k_block_ = gemm_k_block(p_.k);
    const int64_t panel_rows = ceil_div(rows.size(), row_panels_);
    buffer_a_ = scratch_a.reserve(std::min(row_panels_, kPanelsA) * panel_rows * k_block_);
    const int64_t width = kernels_.columns();
    buffer_b_ =
        scratch_b.reserve(std::min(ceil_div(columns.size(), width), kPanelsB) * width * k_block_);
  }

  void run() {
    const int64_t step = kPanelsB * kernels_.columns();
    for (int64_t j = columns_.begin; j < columns_.end; j += step)
      for (int64_t k = depth_.begin; k < depth_.end; k += k_block_)
        block(Range{j, std::min(j + step, columns_.end)},
              Range{k, std::min(k + k_block_, depth_.end)});
  }

 private:
  struct Piece {
    Panel panel;
    int64_t begin;
    int size;
  };
  struct PieceB : Piece {
    int vectors;
    float* c;  // row 0 of these columns of C if they are whole vectors that lie together, else null
  };

  void block(Range columns, Range k) {
    const int pieces_b = pack_b(columns, k);
    const BlockedOutput& out = p_.out;
    const Scale scale{out.alpha, k.begin == depth_.begin ? out.beta : 1};
    const bool last_k = k.end == depth_.end && !epilogue_.empty();
    for (int64_t first = 0; first < row_panels_; first += kPanelsA) {
      const int64_t last = std::min(first + kPanelsA, row_panels_);
      pack_a(first, last, k);
      for (int j = 0; j < pieces_b; ++j)
        for (int64_t i = 0; i < last - first; ++i) {
          tile(a_[i], b_[j], k.size(), scale);
          if (last_k) finish(a_[i], b_[j]);
        }
    }
  }

  int pack_b(Range columns, Range k) {
    const int width = kernels_.columns();
    const int64_t step = std::min(k.size(), p_.b->k_step());
    int pieces = 0;
    for (int64_t at = 0; at < k.size(); at += step) {
      pieces = 0;
      for (int64_t j = columns.begin; j < columns.end; j += width) {
        const int count = static_cast<int>(std::min<int64_t>(width, columns.end - j));
        const int vectors = (count + kernels_.lanes - 1) / kernels_.lanes;
        const int whole = vectors * kernels_.lanes;
        float* buffer = buffer_b_ + pieces * width * k.size() + at * whole;
        const Panel panel =
            p_.b->panel(k.begin + at, std::min(step, k.size() - at), j, count, whole, buffer);
        if (at == 0)
          b_[pieces] = {{panel, j, count}, vectors, count == whole ? column(j, count) : nullptr};
        ++pieces;
      }
    }
    return pieces;
  }

  float* column(int64_t j, int count) const {
    const BlockedOutput& out = p_.out;
    if (out.group == 0) return out.c + j;
    const int64_t at = j % out.group;
    return at + count <= out.group ? out.c + j / out.group * out.group_stride + at : nullptr;
  }

  void pack_a(int64_t first, int64_t last, Range k) {
    if (first == held_row_ && k.begin == held_k_) return;
    held_row_ = first;
    held_k_ = k.begin;
    float* buffer = buffer_a_;
    for (int64_t i = first; i < last; ++i) {
      const Range rows = piece_of(rows_, row_panels_, i);
      const int count = static_cast<int>(rows.size());
      a_[i - first] = {p_.a->panel(k.begin, k.size(), rows.begin, count, count, buffer), rows.begin,
                       count};
      buffer += count * k.size();
    }
  }

  void tile(const Piece& a, const PieceB& b, int64_t k, const Scale& scale) {
    const TileFn multiply = kernels_.tile[a.panel.by_rows][b.vectors - 1][a.size - 1];
    const int64_t ldc = p_.out.ldc;
    if (b.c)
      return multiply(k, a.panel.data, a.panel.stride, b.panel.data, b.panel.stride, scale,
                      b.c + a.begin * ldc, ldc);
    const int64_t stride = kernels_.columns();
    multiply(k, a.panel.data, a.panel.stride, b.panel.data, b.panel.stride, {1, 0}, edge_.data(),
             stride);
    each_group(p_.out, a.begin, b.begin, b.size, [&](int64_t offset, float* c, int64_t columns) {
      kernels_.merge(a.size, columns, edge_.data() + offset, stride, scale.alpha, scale.beta, c,
                     ldc);
    });
  }

  void finish(const Piece& a, const PieceB& b) const {
    Epilogue epilogue = epilogue_;
    if (epilogue.bias_row) epilogue.bias_row += a.begin;
    if (epilogue.bias_col) epilogue.bias_col += b.begin;
    each_group(p_.out, a.begin, b.begin, b.size, [&](int64_t, float* c, int64_t columns) {
      kernels_.finish(epilogue, a.size, columns, c, p_.out.ldc);
      if (epilogue.bias_col) epilogue.bias_col += columns;
    });
  }

  const GemmKernels& kernels_ = gemm_kernels();
  const Problem& p_;
  const Range rows_, columns_, depth_;
  const Epilogue epilogue_{p_.out.bias_row, p_.out.bias_col, p_.out.activation, p_.out.slope};
  int64_t row_panels_, k_block_;
  int64_t held_row_ = -1, held_k_ = -1;
  float *buffer_a_, *buffer_b_;
  std::array<Piece, kPanelsA> a_;
  std::array<PieceB, kPanelsB> b_;
  alignas(64) std::array<float, GemmKernels::kMaxRows * 64> edge_;
};

struct Grid {
  int64_t rows = 1, columns = 1;
};

Grid task_grid(const Problem& p) {
  const GemmKernels& kernels = gemm_kernels();
  const int threads = thread_count();
  const double flops = 2.0 * p.m * p.n * p.k;
  const int64_t want =
      threads == 1
          ? 1
          : static_cast<int64_t>(std::min<double>(threads * kTasksPerThread, flops / kTaskFlops));
  const double row_cost = p.n * p.b->cost(), column_cost = p.m * p.a->cost();
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

/// Cut where whole tiles end, so that no task has narrow ones in its middle.
Range columns_of(const Problem& p, const Grid& grid, int64_t index) {
  const int64_t width = gemm_kernels().columns();
  const Range tiles = piece_of({0, ceil_div(p.n, width)}, grid.columns, index);
  return {tiles.begin * width, std::min(tiles.end * width, p.n)};
}

void run_split(const Problem& p, int64_t splits) {
  const int64_t blocks = ceil_div(p.k, gemm_k_block(p.k)), size = p.m * p.n;
  float* partial = scratch_partial.reserve(splits * size);
  parallel_for(splits, 1, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      Problem part = p;
      part.out = {.c = partial + s * size, .ldc = p.n};
      const Range pieces = piece_of({0, blocks}, splits, s);
      const Range depth{pieces.begin * gemm_k_block(p.k),
                        std::min(pieces.end * gemm_k_block(p.k), p.k)};
      Task(part, {0, p.m}, {0, p.n}, depth).run();
    }
  });
  const GemmKernels& kernels = gemm_kernels();
  for (int64_t s = 0; s < splits; ++s)
    each_group(p.out, 0, 0, p.n, [&](int64_t offset, float* c, int64_t columns) {
      kernels.merge(p.m, columns, partial + s * size + offset, p.n, p.out.alpha,
                    s == 0 ? p.out.beta : 1, c, p.out.ldc);
    });
  Epilogue epilogue{p.out.bias_row, p.out.bias_col, p.out.activation, p.out.slope};
  if (epilogue.empty()) return;
  each_group(p.out, 0, 0, p.n, [&](int64_t offset, float* c, int64_t columns) {
    if (p.out.bias_col) epilogue.bias_col = p.out.bias_col + offset;
    kernels.finish(epilogue, p.m, columns, c, p.out.ldc);
  });
}

}  // namespace

Panel MatrixSource::panel(int64_t k0, int64_t k, int64_t i0, int count, int width,
                          float* buffer) const {
  const float* first = by_rows_ ? data_ + i0 * stride_ + k0 : data_ + k0 * stride_ + i0;
  if (in_place_ && (left_ || (!by_rows_ && count == width))) return {first, stride_, by_rows_};
  const GemmKernels& kernels = gemm_kernels();
  (by_rows_ ? kernels.pack_transposed : kernels.pack)(k, count, width, first, stride_, buffer);
  return {buffer, width};
}

int64_t MatrixSource::k_step() const {
  constexpr int64_t kFewRows = 16;
  return in_place_ || by_rows_ ? std::numeric_limits<int64_t>::max() : kFewRows;
}

int64_t gemm_k_block(int64_t k) {
  constexpr int64_t kStep = 8;
  return ceil_div(ceil_div(k, ceil_div(k, kMaxK)), kStep) * kStep;
}

void gemm_blocked(int64_t m, int64_t n, int64_t k, const PanelSource& a, const PanelSource& b,
                  const BlockedOutput& out) {
  if (m == 0 || n == 0) return;
  const Problem p{m, n, k, &a, &b, out};
  const GemmKernels& kernels = gemm_kernels();
  const int64_t tiles = ceil_div(m, kernels.rows) * ceil_div(n, kernels.columns());
  const int64_t k_blocks = ceil_div(k, gemm_k_block(k));
  if (tiles <= kFewTiles && k_blocks >= 4) return run_split(p, std::min(k_blocks, kSplits));
  const Grid grid = task_grid(p);
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Range rows = piece_of({0, m}, grid.rows, t / grid.columns);
      const Range columns = columns_of(p, grid, t % grid.columns);
      if (rows.size() > 0 && columns.size() > 0) Task(p, rows, columns, {0, k}).run();
    }
  });
}

}  // namespace kaiseki::cpu
