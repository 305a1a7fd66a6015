// SPDX-License-Identifier: MIT
#include "ml/svm/smo.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace kaiseki::ml {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;
constexpr int64_t kChunk = 256, kLanes = 8;
constexpr int64_t kLeastPeriod = 1000;  // iterations between attempts to shrink

/// The first index of the largest of the values, which the calls compute for chunks. A compiler can
/// vectorize the loops over lanes.
struct Largest {
  double value = -kInfinity;
  std::optional<int64_t> index;  // none if all values are -infinity

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

/// The state of the variables that can change now. All vectors have the same length.
struct Variables {
  std::vector<int64_t> index;  // among all variables; ascending
  std::vector<double> b, lower, upper;
  std::vector<double> f;        // the negative gradient
  std::vector<double> up, low;  // 0, or an infinity if b cannot increase or decrease
  std::vector<double> diagonal;

  int64_t size() const { return std::ssize(index); }
  void add(int64_t k, double value, double least, double most, double gradient, double squared) {
    index.push_back(k);
    b.push_back(value);
    lower.push_back(least);
    upper.push_back(most);
    f.push_back(gradient);
    up.push_back(0);
    low.push_back(0);
    diagonal.push_back(squared);
    mark(size() - 1);
  }
  void mark(int64_t k) {
    up[k] = b[k] < upper[k] ? 0 : -kInfinity;
    low[k] = b[k] > lower[k] ? 0 : kInfinity;
  }
};

class Smo {
 public:
  Smo(const SmoProblem& problem, PairRows& rows) : problem_(problem), rows_(rows) {
    for (int64_t k = 0; k < rows.size(); ++k)
      v_.add(k, 0, problem.lower[k], problem.upper[k], problem.linear[k], rows.diagonal(k));
  }

  SmoSolution run() {
    const int64_t limit =
        problem_.max_iter.value_or(std::max<int64_t>(10'000'000, 100 * rows_.size()));
    const int64_t period = std::max(kLeastPeriod, rows_.size());
    SmoSolution solution;
    Largest i = largest_increase();
    while (i.index) {
      require_row(*i.index);
      const Row row_i = row(*i.index, 0);
      const Partner j = partner(i, row_i);
      if (j.violation < problem_.tolerance || !j.index) {
        solution.converged = outer_.empty();
        if (solution.converged) break;
        restore_all();
        i = largest_increase();
        continue;
      }
      if (solution.iterations == limit) break;
      ++solution.iterations;
      require_row(*j.index, i.index);
      // The row of i may have moved.
      i = step(*i.index, *j.index, row(*i.index, 0), row(*j.index, 1));
      if (solution.iterations % period == 0 && shrink(i.value, i.value - j.violation))
        i = largest_increase();
    }
    restore_all();
    solution.intercept = intercept();
    solution.coefficients = std::move(v_.b);
    return solution;
  }

 private:
  struct Partner {
    std::optional<int64_t> index;
    double violation = 0;  // of the most violating pair
  };
  struct Row {
    const float *first, *second;
  };

  /// The kernel of a variable with all that can change. A shrunk row is copied to a buffer.
  Row row(int64_t k, int buffer) {
    const PairRows::Row whole = rows_.row(v_.index[k]);
    if (outer_.empty()) return {whole.first, whole.second};
    std::vector<float>& values = buffers_[buffer];
    values.resize(v_.index.size());
    for (size_t l = 0; l < values.size(); ++l) values[l] = kernel(whole, v_.index[l]);
    return {values.data(), values.data() + first_size()};
  }
  float kernel(const PairRows::Row& whole, int64_t variable) const {
    const int64_t first = rows_.first_size();
    return variable < first ? whole.first[variable] : whole.second[variable - first];
  }
  /// The number of variables in the first piece of a row.
  int64_t first_size() const { return outer_.empty() ? rows_.first_size() : v_.size(); }

  /// Calls body(begin, count, kernel offset, first piece?) for chunks of both pieces of rows.
  template <class Body>
  void for_each_chunk(const Body& body) const {
    const int64_t first = first_size();
    for (int64_t begin = 0; begin < first; begin += kChunk)
      body(begin, std::min(kChunk, first - begin), begin, true);
    for (int64_t begin = first; begin < v_.size(); begin += kChunk)
      body(begin, std::min(kChunk, v_.size() - begin), begin - first, false);
  }

  Largest largest_increase() const {
    Largest largest;
    double values[kChunk];
    for (int64_t begin = 0; begin < v_.size(); begin += kChunk) {
      const int64_t count = std::min(kChunk, v_.size() - begin);
      for (int64_t k = 0; k < count; ++k) values[k] = v_.f[begin + k] + v_.up[begin + k];
      largest.add(values, count, begin);
    }
    return largest;
  }

  /// The variable that with i decreases the objective most.
  Partner partner(const Largest& i, const Row& row) const {
    const double own = v_.diagonal[*i.index];
    Largest gain, violation;
    double gains[kChunk], violations[kChunk];
    for_each_chunk([&](int64_t begin, int64_t count, int64_t offset, bool first) {
      const float* kernel = (first ? row.first : row.second) + offset;
      const double *f = &v_.f[begin], *low = &v_.low[begin], *diagonal = &v_.diagonal[begin];
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
    return {gain.value > 0 ? gain.index : std::nullopt, violation.value};
  }

  /// Moves b[i] up and b[j] down by the same amount. Returns the next variable i.
  Largest step(int64_t i, int64_t j, const Row& row_i, const Row& row_j) {
    const int64_t first_count = first_size();
    const double k_ij =
        static_cast<double>(j < first_count ? row_i.first[j] : row_i.second[j - first_count]);
    const double curvature = std::max(v_.diagonal[i] + v_.diagonal[j] - 2 * k_ij, kLeastCurvature);
    const double room_i = v_.upper[i] - v_.b[i], room_j = v_.b[j] - v_.lower[j];
    const double t = std::min({(v_.f[i] - v_.f[j]) / curvature, room_i, room_j});
    v_.b[i] = t == room_i ? v_.upper[i] : v_.b[i] + t;
    v_.b[j] = t == room_j ? v_.lower[j] : v_.b[j] - t;
    v_.mark(i);
    v_.mark(j);
    Largest largest;
    double values[kChunk];
    for_each_chunk([&](int64_t begin, int64_t count, int64_t offset, bool first) {
      const float* of_i = (first ? row_i.first : row_i.second) + offset;
      const float* of_j = (first ? row_j.first : row_j.second) + offset;
      double* f = &v_.f[begin];
      const double* up = &v_.up[begin];
      for (int64_t k = 0; k < count; ++k) {
        f[k] -= t * (static_cast<double>(of_i[k]) - static_cast<double>(of_j[k]));
        values[k] = f[k] + up[k];
      }
      largest.add(values, count, begin);
    });
    return largest;
  }

  /// Sets aside the variables that are at a limit and far from leaving it. Returns false if they
  /// are less than half of all. `largest` and `smallest` limit the gradients of violating pairs.
  bool shrink(double largest, double smallest) {
    Variables fewer;
    for (int64_t k = 0; k < v_.size(); ++k)
      if ((v_.up[k] == 0 && v_.f[k] >= smallest) || (v_.low[k] == 0 && v_.f[k] <= largest))
        fewer.add(v_.index[k], v_.b[k], v_.lower[k], v_.upper[k], v_.f[k], v_.diagonal[k]);
    if (fewer.size() < 2 || 2 * fewer.size() > v_.size()) return false;
    outer_.push_back(std::move(v_));
    v_ = std::move(fewer);
    return true;
  }

  /// Takes all variables back, and computes their gradients.
  void restore_all() {
    while (!outer_.empty()) {
      Variables& outer = outer_.back();
      std::vector<char> inside(outer.index.size());
      std::vector<double> before(v_.index.size());
      for (size_t k = 0, l = 0; l < before.size(); ++k)
        if (outer.index[k] == v_.index[l]) {
          inside[k] = true;
          before[l++] = outer.b[k];
        }
      for (int64_t l = 0; l < v_.size(); ++l) {
        const double change = v_.b[l] - before[l];
        if (change == 0) continue;
        require_row(l);
        const PairRows::Row whole = rows_.row(v_.index[l]);
        for (int64_t k = 0; k < outer.size(); ++k)
          if (!inside[k]) outer.f[k] -= change * static_cast<double>(kernel(whole, outer.index[k]));
      }
      for (int64_t k = 0, l = 0; k < outer.size(); ++k)
        if (inside[k]) {
          outer.b[k] = v_.b[l];
          outer.f[k] = v_.f[l++];
          outer.mark(k);
        }
      Variables restored = std::move(outer);
      outer_.pop_back();
      v_ = std::move(restored);
    }
  }

  /// Makes the row of a variable available, and keeps that of `keep`. If it is missing, the rows of
  /// other variables that violate the conditions most are computed too.
  void require_row(int64_t k, std::optional<int64_t> keep = {}) {
    const int64_t variable = v_.index[k];
    std::optional<int64_t> kept;
    if (keep) kept = v_.index[*keep];
    if (rows_.use(variable) && (!kept || rows_.use(*kept))) return;
    std::vector<char> available(v_.index.size());
    for (int64_t l = 0; l < v_.size(); ++l) available[l] = rows_.contains(v_.index[l]);
    available[k] = true;
    std::vector<int64_t> variables{variable};
    const int64_t half = (rows_.rows_per_load() - 1) / 2;
    add_violators(variables, available, half, v_.up, 1);
    add_violators(variables, available, half, v_.low, -1);
    rows_.load(variables, kept);
  }

  void add_violators(std::vector<int64_t>& variables, std::vector<char>& available, int64_t most,
                     const std::vector<double>& excluded, double sign) const {
    std::vector<int64_t> others;
    for (int64_t k = 0; k < v_.size(); ++k)
      if (excluded[k] == 0 && !available[k]) others.push_back(k);
    const auto worse = [&](int64_t k, int64_t l) {
      return v_.f[k] != v_.f[l] ? sign * v_.f[k] > sign * v_.f[l] : k < l;
    };
    if (std::ssize(others) > most) {
      std::nth_element(others.begin(), others.begin() + most, others.end(), worse);
      others.resize(static_cast<size_t>(most));
    }
    for (int64_t k : others) {
      available[k] = true;
      variables.push_back(v_.index[k]);
    }
  }

  /// The mean over the coefficients inside their intervals, else the middle of its limits.
  double intercept() const {
    double sum = 0, limit_up = -kInfinity, limit_low = kInfinity;
    int64_t count = 0;
    for (int64_t k = 0; k < v_.size(); ++k) {
      if (v_.up[k] == 0 && v_.low[k] == 0) {
        sum += v_.f[k];
        ++count;
      }
      limit_up = std::max(limit_up, v_.f[k] + v_.up[k]);
      limit_low = std::min(limit_low, v_.f[k] + v_.low[k]);
    }
    return count > 0 ? sum / static_cast<double>(count) : (limit_up + limit_low) / 2;
  }

  const SmoProblem& problem_;
  PairRows& rows_;
  Variables v_;
  std::vector<Variables> outer_;  // before each shrink()
  std::vector<float> buffers_[2];
};

}  // namespace

SmoSolution minimize(const SmoProblem& problem, PairRows& rows) { return Smo(problem, rows).run(); }

}  // namespace kaiseki::ml
