// SPDX-License-Identifier: MIT
// Divide and conquer. The two halves are solved apart. Their joint matrix is diagonal plus rank one
// in the basis of their eigenvectors. Vectors are rows.
#include <cmath>
#include <limits>
#include <numeric>

#include "matrix/linalg/kernels.h"
#include "matrix/linalg/secular.h"
#include "matrix/linalg/tridiagonal.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kLeaf = 32;
constexpr int64_t kRoots = 16;  // for one task

/// The half in which the elements of an eigenvector may differ from 0.
enum Part : uint8_t { kLeft, kBoth, kRight };

template <typename T>
class Division {
 public:
  Division(TridiagonalMatrix& t, const MatrixView<T>& vectors)
      : t_(t), vectors_(vectors), spare_(vectors.rows, vectors.columns) {}

  bool solve(int64_t begin, int64_t end) {
    if (end - begin <= kLeaf) return solve_leaf(begin, end);
    const int64_t middle = begin + (end - begin) / 2;
    const double coupling = t_.off[middle - 1];
    t_.diagonal[middle - 1] -= std::abs(coupling);
    t_.diagonal[middle] -= std::abs(coupling);
    if (!solve(begin, middle) || !solve(middle, end)) return false;
    join(begin, middle, end, coupling);
    return true;
  }

 private:
  /// An eigenvector of the halves: its eigenvalue, its element of z, and its row.
  struct Candidate {
    double value, z;
    int64_t row;
    Part part;
  };

  bool solve_leaf(int64_t begin, int64_t end) {
    TridiagonalMatrix leaf;
    leaf.diagonal.assign(t_.diagonal.begin() + begin, t_.diagonal.begin() + end);
    leaf.off.assign(t_.off.begin() + begin, t_.off.begin() + (end - 1));
    const int64_t n = end - begin;
    const MatrixView<T> here = vectors_.block(begin, begin, n, n);
    set_identity(here);
    if (!solve_by_rotations(leaf, here)) return false;
    std::copy(leaf.diagonal.begin(), leaf.diagonal.end(), t_.diagonal.begin() + begin);
    return true;
  }

  void join(int64_t begin, int64_t middle, int64_t end, double coupling) {
    const int64_t n = end - begin;
    // u has a norm of sqrt(2), so z = u / sqrt(2) and rho = 2 |coupling|.
    const double rho = 2 * std::abs(coupling), scale = std::sqrt(0.5);
    std::vector<Candidate> all(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = begin + i;
      const bool left = row < middle;
      const double u =
          left ? vectors_(row, middle - 1) : std::copysign(1.0, coupling) * vectors_(row, middle);
      all[i] = {t_.diagonal[row], u * scale, row, left ? kLeft : kRight};
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
    std::vector<Candidate> deflated;
    std::vector<Candidate> kept = deflate(all, rho, {begin, end}, deflated);
    merge(kept, deflated, rho, {begin, middle, end});
  }

  struct Range {
    int64_t begin, end;
  };

  /// Separates the vectors that are eigenvectors of the joint matrix already. If two eigenvalues
  /// are equal, a rotation makes one of their elements of z 0.
  std::vector<Candidate> deflate(const std::vector<Candidate>& all, double rho, Range range,
                                 std::vector<Candidate>& deflated) {
    double largest = 0;
    for (const Candidate& c : all) largest = std::max({largest, std::abs(c.value), std::abs(c.z)});
    const double tolerance = 8 * std::numeric_limits<T>::epsilon() * largest;
    std::vector<Candidate> kept;
    for (Candidate next : all) {
      if (rho * std::abs(next.z) <= tolerance) {
        deflated.push_back(next);
        continue;
      }
      if (!kept.empty()) {
        Candidate& before = kept.back();
        const double length = std::hypot(next.z, before.z);
        const double c = next.z / length, s = -before.z / length;
        if (std::abs((next.value - before.value) * c * s) <= tolerance) {
          kernels<T>().rotate(range.end - range.begin, static_cast<T>(c), static_cast<T>(s),
                              vectors_.row(before.row) + range.begin,
                              vectors_.row(next.row) + range.begin);
          if (next.part != before.part) next.part = before.part = kBoth;
          const double a = before.value, b = next.value;
          before.value = a * c * c + b * s * s;
          next.value = a * s * s + b * c * c;
          next.z = length;
          deflated.push_back(before);
          kept.pop_back();
        }
      }
      kept.push_back(next);
    }
    return kept;
  }

  struct Halves {
    int64_t begin, middle, end;
  };

  void merge(const std::vector<Candidate>& kept, const std::vector<Candidate>& deflated, double rho,
             const Halves& h) {
    const auto k = static_cast<int64_t>(kept.size());
    // Rows in the order left, both, right: each half then is one product.
    std::vector<int64_t> order(kept.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return kept[a].part < kept[b].part; });
    int64_t left = 0, only_left = 0;
    for (const Candidate& c : kept) {
      left += c.part != kRight;
      only_left += c.part == kLeft;
    }
    std::vector<double> values(kept.size());
    Dense<T> factors(k, k);
    combine(kept, order, rho, values, factors.view());

    const int64_t n = h.end - h.begin, width = h.middle - h.begin;
    const MatrixView<T> source = spare_.view().block(h.begin, h.begin, n, n);
    for (int64_t i = 0; i < k; ++i)
      std::copy_n(vectors_.row(kept[order[i]].row) + h.begin, n, source.row(i));
    for (size_t i = 0; i < deflated.size(); ++i)
      std::copy_n(vectors_.row(deflated[i].row) + h.begin, n,
                  source.row(k + static_cast<int64_t>(i)));
    Dense<T> joined(k, n);
    const MatrixView<T> f = factors.view();
    multiply(1, Factor<T>{f.block(0, 0, k, left)}, Factor<T>{source.block(0, 0, left, width)}, 0,
             joined.view().block(0, 0, k, width));
    multiply(1, Factor<T>{f.block(0, only_left, k, k - only_left)},
             Factor<T>{source.block(only_left, width, k - only_left, n - width)}, 0,
             joined.view().block(0, width, k, n - width));

    for (const Candidate& c : deflated) values.push_back(c.value);
    std::vector<int64_t> sorted(values.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int64_t a, int64_t b) { return values[a] < values[b]; });
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = sorted[i];
      t_.diagonal[h.begin + i] = values[from];
      std::copy_n(from < k ? joined.view().row(from) : source.row(from), n,
                  vectors_.row(h.begin + i) + h.begin);
    }
  }

  /// Sets the eigenvalues of the joint matrix. Row j of `factors` is the eigenvector of value j.
  /// Its basis is the kept vectors, in their new order.
  void combine(const std::vector<Candidate>& kept, const std::vector<int64_t>& order, double rho,
               std::vector<double>& values, const MatrixView<T>& factors) const {
    const auto k = static_cast<int64_t>(kept.size());
    RankOneUpdate update;
    update.rho = rho;
    for (const Candidate& c : kept) {
      update.poles.push_back(c.value);
      update.z.push_back(c.z);
    }
    Dense<double> differences(k, k);
    const MatrixView<double> delta = differences.view();
    parallel_for(k, kRoots, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) values[j] = secular_root(update, j, delta.row(j));
    });
    // The z whose eigenvalues are exactly the computed ones: the vectors are then orthogonal.
    std::vector<double> exact(kept.size(), 1);
    parallel_for(k, 256, [&](int64_t begin, int64_t end) {
      for (int64_t j = 0; j < k; ++j)
        for (int64_t i = begin; i < end; ++i)
          exact[i] *= i == j ? -delta(j, i) : delta(j, i) / (update.poles[i] - update.poles[j]);
      for (int64_t i = begin; i < end; ++i)
        exact[i] = std::copysign(std::sqrt(std::abs(exact[i])), update.z[i]);
    });
    parallel_for(k, kRoots, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        double* row = delta.row(j);
        for (int64_t i = 0; i < k; ++i) row[i] = exact[i] / row[i];
        const double norm = std::sqrt(kernels<double>().dot(k, row, row));
        for (int64_t i = 0; i < k; ++i) factors(j, i) = static_cast<T>(row[order[i]] / norm);
      }
    });
  }

  TridiagonalMatrix& t_;
  MatrixView<T> vectors_;
  Dense<T> spare_;
};

}  // namespace

template <typename T>
bool solve_by_division(TridiagonalMatrix& t, const MatrixView<T>& vectors) {
  const auto n = static_cast<int64_t>(t.diagonal.size());
  if (n == 0) return true;
  set_identity(vectors);
  double scale = 0;
  for (double d : t.diagonal) scale = std::max(scale, std::abs(d));
  for (double e : t.off) scale = std::max(scale, std::abs(e));
  if (scale == 0) return true;
  for (double& d : t.diagonal) d /= scale;
  for (double& e : t.off) e /= scale;
  const bool solved = Division<T>(t, vectors).solve(0, n);
  for (double& d : t.diagonal) d *= scale;
  return solved;
}

template bool solve_by_division(TridiagonalMatrix&, const MatrixView<float>&);
template bool solve_by_division(TridiagonalMatrix&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
