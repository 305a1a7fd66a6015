// SPDX-License-Identifier: MIT
// Reductions along any axes. The shape alone determines how the input of one output is split into
// pieces. Pieces are combined in double and in order, so the number of threads does not change the
// result.
#include "matrix/backend/operations/reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "matrix/backend/cpu/reduce_f64.h"
#include "matrix/backend/cpu/scratch.h"
#include "matrix/backend/cpu/vector_kernels.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kWork = 32768;  // elements that a task reads
constexpr int64_t kRows = 128;    // rows added in float in sequence
constexpr int64_t kColumns = 1024;

/// Offsets of the elements along some axes, row-major.
class Walk {
 public:
  void add(int64_t length, int64_t stride) {
    lengths_.push_back(length);
    strides_.push_back(stride);
    count_ *= length;
  }
  int64_t count() const { return count_; }
  int64_t offset(int64_t flat) const {
    int64_t result = 0;
    for (size_t i = lengths_.size(); i-- > 0;) {
      result += flat % lengths_[i] * strides_[i];
      flat /= lengths_[i];
    }
    return result;
  }

 private:
  std::vector<int64_t> lengths_, strides_;
  int64_t count_ = 1;
};

class Reducer {
 public:
  explicit Reducer(const ReduceArgs& args)
      : kind_(args.kind),
        input_(args.input->data<float>()),
        beta_(args.beta),
        adds_(kind_ != Reduction::max && kind_ != Reduction::min) {
    Shape strides = args.shape.contiguous_strides();
    int last = args.shape.rank() - 1;
    for (int axis = 0; axis < last; ++axis)
      (args.reduced[axis] ? reduced_ : kept_).add(args.shape[axis], strides[axis]);
    inner_ = last < 0 ? 1 : args.shape[last];
    inner_reduced_ = last >= 0 && args.reduced[last];
    terms_ = reduced_.count() * (inner_reduced_ ? inner_ : 1);
    output_ = args.beta == 0 ? args.output->overwrite<float>() : args.output->mutable_data<float>();
  }

  void run() const {
    if (inner_reduced_)
      run_rows();
    else
      run_columns();
  }

 private:
  double identity() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return adds_ ? 0 : kind_ == Reduction::max ? -kInfinity : kInfinity;
  }

  double combine(double a, double b) const {
    if (adds_) return a + b;
    if (a != a || b != b) return a + b;
    return kind_ == Reduction::max ? std::max(a, b) : std::min(a, b);
  }

  double run_of(const float* x, int64_t n) const {
    auto count = static_cast<size_t>(n);
    switch (kind_) {
      case Reduction::max:
        return cpu::maximum(x, count);
      case Reduction::min:
        return cpu::minimum(x, count);
      case Reduction::sum_of_squares:
        return cpu::sum_of_squares(x, count);
      default:
        return cpu::sum(x, count);
    }
  }

  void add_row(float* total, const float* x, int64_t n) const {
    auto count = static_cast<size_t>(n);
    switch (kind_) {
      case Reduction::max:
        return cpu::maximum_to(total, x, count);
      case Reduction::min:
        return cpu::minimum_to(total, x, count);
      case Reduction::sum_of_squares:
        return cpu::add_squares_to(total, x, count);
      default:
        return cpu::add_to(total, x, count);
    }
  }

  void store(int64_t index, double value) const {
    if (kind_ == Reduction::mean) value /= static_cast<double>(terms_);
    float& out = output_[index];
    out = static_cast<float>(beta_ == 0 ? value : value + static_cast<double>(beta_) * out);
  }

  /// Reduces terms begin..end of the output with its elements starting at `base`.
  double piece(int64_t base, int64_t begin, int64_t end) const {
    double total = identity();
    while (begin < end) {
      int64_t row = begin / inner_, column = begin % inner_;
      int64_t n = std::min(end - begin, inner_ - column);
      total = combine(total, run_of(input_ + base + reduced_.offset(row) + column, n));
      begin += n;
    }
    return total;
  }

  void run_rows() const {
    int64_t outputs = kept_.count(), pieces = ceil_div(terms_, kWork);
    if (pieces <= 1) {
      int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, terms_));
      parallel_for(outputs, grain, [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) store(o, piece(kept_.offset(o), 0, terms_));
      });
      return;
    }
    std::vector<double> partial(static_cast<size_t>(outputs * pieces));
    parallel_for(outputs * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i % pieces * kWork;
        partial[i] = piece(kept_.offset(i / pieces), first, std::min(terms_, first + kWork));
      }
    });
    for (int64_t o = 0; o < outputs; ++o) {
      double total = identity();
      for (int64_t p = 0; p < pieces; ++p) total = combine(total, partial[o * pieces + p]);
      store(o, total);
    }
  }

  /// Each task reduces all rows of some columns. If the input has many rows, a task reduces only
  /// the rows of one piece.
  void run_columns() const {
    int64_t width = std::min(inner_, kColumns);
    int64_t blocks = width ? ceil_div(inner_, width) : 0;
    int64_t rows = reduced_.count();
    int64_t piece_rows = std::max(kRows, (kWork / std::max<int64_t>(1, width)) / kRows * kRows);
    int64_t pieces = std::max<int64_t>(1, ceil_div(rows, piece_rows));
    int64_t tasks = kept_.count() * blocks;
    std::vector<double> partial(pieces > 1 ? static_cast<size_t>(tasks * pieces * width) : 0);
    int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, width * rows));
    parallel_for(tasks * pieces, pieces > 1 ? 1 : grain, [&](int64_t begin, int64_t end) {
      std::vector<double> total(static_cast<size_t>(width));
      for (int64_t i = begin; i < end; ++i) {
        int64_t task = i / pieces, first = i % pieces * piece_rows;
        add_rows(task / blocks, task % blocks * width, first, std::min(rows, first + piece_rows),
                 width, total.data());
        if (pieces > 1)
          std::copy(total.begin(), total.end(), partial.begin() + i * width);
        else
          store_columns(task / blocks, task % blocks * width, width, total.data());
      }
    });
    if (pieces == 1) return;
    for (int64_t task = 0; task < tasks; ++task) {
      double* total = partial.data() + task * pieces * width;
      for (int64_t p = 1; p < pieces; ++p)
        for (int64_t j = 0; j < width; ++j) total[j] = combine(total[j], total[p * width + j]);
      store_columns(task / blocks, task % blocks * width, width, total);
    }
  }

  void add_rows(int64_t kept, int64_t column, int64_t begin, int64_t end, int64_t width,
                double* total) const {
    int64_t n = std::min(width, inner_ - column);
    float* block = cpu::thread_scratch(static_cast<size_t>(width));
    const float* base = input_ + kept_.offset(kept) + column;
    std::fill_n(total, width, identity());
    for (; begin < end; begin += kRows) {
      std::fill_n(block, width, static_cast<float>(identity()));
      for (int64_t row = begin; row < std::min(end, begin + kRows); ++row)
        add_row(block, base + reduced_.offset(row), n);
      for (int64_t j = 0; j < n; ++j) total[j] = combine(total[j], block[j]);
    }
  }

  void store_columns(int64_t kept, int64_t column, int64_t width, const double* total) const {
    int64_t n = std::min(width, inner_ - column);
    for (int64_t j = 0; j < n; ++j) store(kept * inner_ + column + j, total[j]);
  }

  Reduction kind_;
  const float* input_;
  float* output_;
  float beta_;
  bool adds_, inner_reduced_;
  Walk kept_, reduced_;
  int64_t inner_, terms_;
};

void reduce(const ReduceArgs& args) {
  if (args.input->dtype() == DType::f64) return cpu::reduce_f64(args);
  Reducer(args).run();
}

}  // namespace

namespace cpu {

void add_reduce(KernelTable& kernels) { kernels.add(kReduce, reduce); }

}  // namespace cpu

}  // namespace kaiseki
