// SPDX-License-Identifier: MIT
#include "ml/svm/smo.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kaiseki::ml {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;
constexpr int64_t kChunk = 256, kLanes = 8;

/// The first index of the largest of the values, which the calls compute for chunks. A compiler can
/// vectorize the loops over lanes.
struct Largest {
  double value = -kInfinity;
  int64_t index = -1;

  void add(const double* values, int64_t count, int64_t begin) {
    double lanes[kLanes];
    std::fill(lanes, lanes + kLanes, -kInfinity);
    int64_t k = 0;
    for (; k + kLanes <= count; k += kLanes)
      for (int64_t l = 0; l < kLanes; ++l)
        lanes[l] = values[k + l] > lanes[l] ? values[k + l] : lanes[l];
    for (; k < count; ++k) lanes[0] = values[k] > lanes[0] ? values[k] : lanes[0];
    const double best = *std::max_element(lanes, lanes + kLanes);
    if (!(best > value)) return;
    value = best;
    index = begin + (std::find(values, values + count, best) - values);
  }
};

class Smo {
 public:
  Smo(const SmoProblem& problem, PairRows& rows)
      : problem_(problem),
        rows_(rows),
        n_(rows.size()),
        b_(problem.linear.size()),
        f_(problem.linear),
        up_(b_.size()),
        low_(b_.size()),
        diagonal_(b_.size()) {
    for (int64_t k = 0; k < n_; ++k) {
      diagonal_[k] = rows.diagonal(k);
      mark(k);
    }
  }

  SmoSolution run() {
    const int64_t limit =
        problem_.max_iter >= 0 ? problem_.max_iter : std::max<int64_t>(10'000'000, 100 * n_);
    SmoSolution solution;
    Largest i = largest_increase();
    while (i.index >= 0) {
      require_row(i.index, -1);
      const Partner j = partner(i);
      if (j.violation < problem_.tolerance || j.index < 0) {
        solution.converged = true;
        break;
      }
      if (solution.iterations == limit) break;
      ++solution.iterations;
      require_row(j.index, i.index);
      i = step(i.index, j.index);
    }
    solution.intercept = intercept();
    solution.coefficients = std::move(b_);
    return solution;
  }

 private:
  struct Partner {
    int64_t index = -1;
    double violation = 0;  // of the most violating pair
  };

  /// Sets whether a coefficient can increase and decrease: 0, or an infinity that excludes it.
  void mark(int64_t k) {
    up_[k] = b_[k] < problem_.upper[k] ? 0 : -kInfinity;
    low_[k] = b_[k] > problem_.lower[k] ? 0 : kInfinity;
  }

  Largest largest_increase() const {
    Largest largest;
    double values[kChunk];
    for (int64_t begin = 0; begin < n_; begin += kChunk) {
      const int64_t count = std::min(kChunk, n_ - begin);
      for (int64_t k = 0; k < count; ++k) values[k] = f_[begin + k] + up_[begin + k];
      largest.add(values, count, begin);
    }
    return largest;
  }

  /// Calls body(begin, count, offset in the piece, first piece?) for chunks of both pieces of rows.
  template <class Body>
  void for_each_chunk(const Body& body) const {
    const int64_t first = rows_.first_size();
    for (int64_t begin = 0; begin < first; begin += kChunk)
      body(begin, std::min(kChunk, first - begin), begin, true);
    for (int64_t begin = first; begin < n_; begin += kChunk)
      body(begin, std::min(kChunk, n_ - begin), begin - first, false);
  }

  /// The variable that with i decreases the objective most.
  Partner partner(const Largest& i) const {
    const PairRows::Row row = rows_.row(i.index);
    const double own = diagonal_[i.index];
    Largest gain, violation;
    double gains[kChunk], violations[kChunk];
    for_each_chunk([&](int64_t begin, int64_t count, int64_t offset, bool first) {
      const float* kernel = (first ? row.first : row.second) + offset;
      const double *f = &f_[begin], *low = &low_[begin], *diagonal = &diagonal_[begin];
      for (int64_t k = 0; k < count; ++k) {
        const double v = i.value - (f[k] + low[k]);
        const double b = v > 0 ? v : 0;
        const double a = own + diagonal[k] - 2 * static_cast<double>(kernel[k]);
        gains[k] = b * b / (a > kLeastCurvature ? a : kLeastCurvature);
        violations[k] = v;
      }
      gain.add(gains, count, begin);
      violation.add(violations, count, begin);
    });
    return {gain.value > 0 ? gain.index : -1, violation.value};
  }

  /// Moves b[i] up and b[j] down by the same amount. Returns the next variable i.
  Largest step(int64_t i, int64_t j) {
    const PairRows::Row row_i = rows_.row(i), row_j = rows_.row(j);
    const bool j_first = j < rows_.first_size();
    const int64_t j_offset = j_first ? j : j - rows_.first_size();
    const double k_ij = static_cast<double>((j_first ? row_i.first : row_i.second)[j_offset]);
    const double curvature = std::max(diagonal_[i] + diagonal_[j] - 2 * k_ij, kLeastCurvature);
    const double room_i = problem_.upper[i] - b_[i], room_j = b_[j] - problem_.lower[j];
    const double t = std::min({(f_[i] - f_[j]) / curvature, room_i, room_j});
    b_[i] = t == room_i ? problem_.upper[i] : b_[i] + t;
    b_[j] = t == room_j ? problem_.lower[j] : b_[j] - t;
    mark(i);
    mark(j);
    Largest largest;
    double values[kChunk];
    for_each_chunk([&](int64_t begin, int64_t count, int64_t offset, bool first) {
      const float* of_i = (first ? row_i.first : row_i.second) + offset;
      const float* of_j = (first ? row_j.first : row_j.second) + offset;
      double* f = &f_[begin];
      const double* up = &up_[begin];
      for (int64_t k = 0; k < count; ++k) {
        f[k] -= t * (static_cast<double>(of_i[k]) - static_cast<double>(of_j[k]));
        values[k] = f[k] + up[k];
      }
      largest.add(values, count, begin);
    });
    return largest;
  }

  /// Makes the row of a variable available, and keeps that of `keep`. If it is missing, the rows of
  /// other variables that violate the conditions most are computed too.
  void require_row(int64_t variable, int64_t keep) {
    if (rows_.use(variable) && (keep < 0 || rows_.use(keep))) return;
    std::vector<char> available(b_.size());
    for (int64_t k = 0; k < n_; ++k) available[k] = rows_.contains(k);
    available[variable] = true;
    std::vector<int64_t> variables{variable};
    const int64_t half = (rows_.rows_per_load() - 1) / 2;
    add_violators(variables, available, half, up_, 1);
    add_violators(variables, available, half, low_, -1);
    rows_.load(variables, keep);
  }

  void add_violators(std::vector<int64_t>& variables, std::vector<char>& available, int64_t most,
                     const std::vector<double>& excluded, double sign) const {
    std::vector<int64_t> others;
    for (int64_t k = 0; k < n_; ++k)
      if (excluded[k] == 0 && !available[k]) others.push_back(k);
    const auto worse = [&](int64_t k, int64_t l) {
      return f_[k] != f_[l] ? sign * f_[k] > sign * f_[l] : k < l;
    };
    if (static_cast<int64_t>(others.size()) > most) {
      std::nth_element(others.begin(), others.begin() + most, others.end(), worse);
      others.resize(static_cast<size_t>(most));
    }
    for (int64_t k : others) available[k] = true;
    variables.insert(variables.end(), others.begin(), others.end());
  }

  /// The mean over the coefficients inside their intervals, else the middle of its limits.
  double intercept() const {
    double sum = 0, limit_up = -kInfinity, limit_low = kInfinity;
    int64_t count = 0;
    for (int64_t k = 0; k < n_; ++k) {
      if (up_[k] == 0 && low_[k] == 0) {
        sum += f_[k];
        ++count;
      }
      limit_up = std::max(limit_up, f_[k] + up_[k]);
      limit_low = std::min(limit_low, f_[k] + low_[k]);
    }
    return count > 0 ? sum / static_cast<double>(count) : (limit_up + limit_low) / 2;
  }

  const SmoProblem& problem_;
  PairRows& rows_;
  int64_t n_;
  std::vector<double> b_, f_, up_, low_, diagonal_;  // f: the negative gradient
};

}  // namespace

SmoSolution minimize(const SmoProblem& problem, PairRows& rows) { return Smo(problem, rows).run(); }

}  // namespace kaiseki::ml
