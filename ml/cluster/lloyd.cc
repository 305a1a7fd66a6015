// SPDX-License-Identifier: MIT
#include "ml/cluster/lloyd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "matrix/ceil_div.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kRounding = 1e-6f;  // relative, of one update of a bound
constexpr int64_t kLeastPieces = 16, kMostPieces = 64;
constexpr int64_t kSums = 1 << 19;  // of all pieces, unless there are few pieces
constexpr int64_t kBoundsPerPiece = 1 << 14;

/// One pass over a piece of the samples makes these changes.
struct Change {
  std::vector<double> sums;     // [k, features], of centered samples
  std::vector<int64_t> counts;  // [k]
  std::vector<char> touched;    // [k], whether a sample was added or removed
  int64_t labels = 0;           // how many labels are new

  Change(int64_t k, int64_t features)
      : sums(static_cast<size_t>(k * features)),
        counts(static_cast<size_t>(k)),
        touched(static_cast<size_t>(k)) {}

  void add(int64_t cluster, const float* row, int64_t features, double sign) {
    double* sum = sums.data() + cluster * features;
    for (int64_t f = 0; f < features; ++f) sum[f] += sign * static_cast<double>(row[f]);
    counts[cluster] += sign > 0 ? 1 : -1;
    touched[cluster] = 1;
  }
  /// Adds this change to `total`, and clears it.
  void move_to(Change& total, int64_t features) {
    total.labels += std::exchange(labels, 0);
    for (size_t j = 0; j < counts.size(); ++j) {
      if (!std::exchange(touched[j], char{0})) continue;
      total.counts[j] += std::exchange(counts[j], 0);
      for (int64_t i = static_cast<int64_t>(j) * features;
           i < static_cast<int64_t>(j + 1) * features; ++i)
        total.sums[i] += std::exchange(sums[i], 0.0);
    }
  }
};

struct TwoNearest {
  float nearest, second;  // squared distances without the norm of the sample
  int32_t center;
};

/// The nearest two centers of the rows of a block. Vectors run over rows.
class NearestOfBlock {
 public:
  void find(const float* rows, int64_t count, const Centers& centers) {
    float* partial = block_scratch(BlockScratch::products, centers.count * count);
    partial_distances_by_center(rows, count, centers, partial);
    std::fill_n(nearest_, count, kInfinity);
    std::fill_n(second_, count, kInfinity);
    std::fill_n(center_, count, 0);
    for (int64_t j = 0; j < centers.count; ++j) {
      const float* values = partial + j * count;
      for (int64_t i = 0; i < count; ++i) {
        // No branches, so that the compiler uses vectors.
        const float value = values[i], before = nearest_[i];
        const int32_t closer = -static_cast<int32_t>(value < before);
        second_[i] = std::min(second_[i], std::max(value, before));
        nearest_[i] = std::min(value, before);
        center_[i] ^= (center_[i] ^ static_cast<int32_t>(j)) & closer;
      }
    }
  }
  TwoNearest of(int64_t row) const { return {nearest_[row], second_[row], center_[row]}; }

 private:
  float nearest_[kRowsPerProduct], second_[kRowsPerProduct];
  int32_t center_[kRowsPerProduct];
};

class Iteration {
 public:
  Iteration(const CenteredRows& x, Centers centers, bool bounds)
      : x_(x),
        k_(centers.count),
        features_(x.features()),
        bounds_(bounds),
        total_(k_, features_),
        labels_(static_cast<size_t>(x.count()), -1),
        half_gaps_(static_cast<size_t>(k_)) {
    result.centers = std::move(centers);
    upper_.assign(static_cast<size_t>(x.count()), kInfinity);
    lower_.assign(static_cast<size_t>(x.count()), 0);
    const int64_t some = std::clamp(kSums / (k_ * features_), kLeastPieces, kMostPieces);
    // Sums of pieces take at most a quarter of the memory of x.
    const int64_t pieces = std::clamp<int64_t>(x.count() / (8 * k_), 1, some);
    grain_ = ceil_div(x.count(), pieces);
    for (int64_t begin = 0; begin < x.count(); begin += grain_)
      changes_.emplace_back(k_, features_);
  }

  /// Finds the nearest centers. Returns whether a label changed.
  bool assign();
  /// Moves centers to the means of their samples. Returns the sum of the squared movements.
  double move();
  const std::vector<int32_t>& labels() const { return labels_; }

  LloydResult result;

 private:
  void assign_piece(int64_t begin, int64_t end, Change& change);
  void settle(int64_t sample, const float* row, const TwoNearest& found, Change& change);
  float distance_to_own(int64_t sample, const float* row) const;
  void find_half_gaps();
  void fill_empty_clusters();
  void loosen_bounds(const std::vector<float>& shifts);

  const CenteredRows& x_;
  const int64_t k_, features_;
  const bool bounds_;
  Change total_;
  std::vector<int32_t> labels_;
  std::vector<Change> changes_;  // of pieces of grain_ samples
  int64_t grain_ = 0;
  // Each sample: at most so far from its own center, and at least so far from every other one.
  std::vector<float> upper_, lower_;
  std::vector<float> half_gaps_;  // half the distance from a center to the nearest other one
};

bool Iteration::assign() {
  if (bounds_) find_half_gaps();
  parallel_for(x_.count(), grain_, [&](int64_t begin, int64_t end) {
    assign_piece(begin, end, changes_[begin / grain_]);
  });
  for (Change& change : changes_) change.move_to(total_, features_);
  return std::exchange(total_.labels, 0) > 0;
}

void Iteration::assign_piece(int64_t begin, int64_t end, Change& change) {
  float* rows = block_scratch(BlockScratch::rows, kRowsPerProduct * features_);
  NearestOfBlock nearest;
  int64_t samples[kRowsPerProduct];
  int64_t waiting = 0;
  const auto flush = [&] {
    if (waiting > 0) nearest.find(rows, waiting, result.centers);
    for (int64_t i = 0; i < waiting; ++i)
      settle(samples[i], rows + i * features_, nearest.of(i), change);
    waiting = 0;
  };
  for (int64_t i = begin; i < end; ++i) {
    float* row = rows + waiting * features_;
    const int32_t label = labels_[i];
    if (bounds_ && label >= 0) {
      const float limit = std::max(lower_[i], half_gaps_[label]);
      if (upper_[i] <= limit) continue;
      x_.copy_row(i, row);
      upper_[i] = distance_to_own(i, row);
      if (upper_[i] <= limit) continue;
    } else {
      x_.copy_row(i, row);
    }
    samples[waiting++] = i;
    if (waiting == kRowsPerProduct) flush();
  }
  flush();
}

float Iteration::distance_to_own(int64_t sample, const float* row) const {
  const float distance =
      std::sqrt(squared_distance(row, result.centers.row(labels_[sample]), features_));
  return distance * (1 + kRounding);
}

void Iteration::settle(int64_t sample, const float* row, const TwoNearest& found, Change& change) {
  const auto [best, second, nearest] = found;
  const float norm = x_.squared_norm(sample);
  // The norm of the second center is at most |row| plus its distance. Both errors are below these.
  const float slack = distance_slack(norm, result.centers.norms[nearest]);
  upper_[sample] = std::sqrt(std::max(0.0f, best + norm) + slack);
  lower_[sample] = std::sqrt(std::max(0.0f, (second + norm) * (1 - 4 * kRounding) - 2 * slack));
  const int32_t old = labels_[sample];
  if (old == nearest) return;
  if (old >= 0) change.add(old, row, features_, -1);
  change.add(nearest, row, features_, 1);
  ++change.labels;
  labels_[sample] = static_cast<int32_t>(nearest);
}

void Iteration::find_half_gaps() {
  const Centers& centers = result.centers;
  parallel_for(k_, kRowsPerProduct, [&](int64_t begin, int64_t end) {
    float* partial = block_scratch(BlockScratch::products, (end - begin) * k_);
    partial_distances(centers.row(begin), end - begin, centers, partial);
    for (int64_t i = begin; i < end; ++i) {
      float nearest = kInfinity;
      for (int64_t j = 0; j < k_; ++j)
        if (j != i)
          nearest = std::min(nearest, partial[(i - begin) * k_ + j] + centers.norms[i] -
                                          distance_slack(centers.norms[i], centers.norms[j]));
      half_gaps_[i] = 0.5f * std::sqrt(std::max(0.0f, nearest));
    }
  });
}

/// The center of a cluster that stays empty does not move.
void Iteration::fill_empty_clusters() {
  if (std::find(total_.counts.begin(), total_.counts.end(), 0) == total_.counts.end()) return;
  std::vector<float> distances(static_cast<size_t>(x_.count()));
  for_each_centered_block(x_, [&](const float* rows, int64_t begin, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      distances[begin + i] =
          squared_distance(rows + i * features_, result.centers.row(labels_[begin + i]), features_);
  });
  std::vector<float> row(static_cast<size_t>(features_));
  for (const ClusterRefill& refill : refill_clusters(distances, labels_, total_.counts)) {
    x_.copy_row(refill.sample, row.data());
    total_.add(refill.from, row.data(), features_, -1);
    total_.add(refill.to, row.data(), features_, 1);
    labels_[refill.sample] = refill.to;
    upper_[refill.sample] = kInfinity;
    lower_[refill.sample] = 0;
  }
}

double Iteration::move() {
  fill_empty_clusters();
  std::vector<float> shifts(static_cast<size_t>(k_));
  double moved = 0;
  for (int64_t j = 0; j < k_; ++j) {
    if (total_.counts[j] == 0) continue;
    float* center = result.centers.row(j);
    const double* sum = total_.sums.data() + j * features_;
    double squared = 0;
    for (int64_t f = 0; f < features_; ++f) {
      const auto next = static_cast<float>(sum[f] / static_cast<double>(total_.counts[j]));
      const double step = static_cast<double>(next) - static_cast<double>(center[f]);
      squared += step * step;
      center[f] = next;
    }
    moved += squared;
    shifts[j] = static_cast<float>(std::sqrt(squared)) * (1 + kRounding);
  }
  result.centers.update_norms();
  if (bounds_) loosen_bounds(shifts);
  return moved;
}

void Iteration::loosen_bounds(const std::vector<float>& shifts) {
  const int64_t most = std::max_element(shifts.begin(), shifts.end()) - shifts.begin();
  float others = 0;  // the largest movement except that of `most`
  for (int64_t j = 0; j < k_; ++j)
    if (j != most) others = std::max(others, shifts[j]);
  parallel_for(x_.count(), kBoundsPerPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t label = labels_[i];
      upper_[i] = (upper_[i] + shifts[label]) * (1 + kRounding);
      const float shift = label == most ? others : shifts[most];
      lower_[i] = std::max(0.0f, lower_[i] * (1 - kRounding) - shift);
    }
  });
}

}  // namespace

std::vector<ClusterRefill> refill_clusters(const std::vector<float>& distances,
                                           const std::vector<int32_t>& labels,
                                           std::vector<int64_t> counts) {
  std::vector<std::pair<float, int64_t>> far(distances.size());
  for (size_t i = 0; i < far.size(); ++i) far[i] = {-distances[i], static_cast<int64_t>(i)};
  std::sort(far.begin(), far.end());
  std::vector<ClusterRefill> refills;
  size_t next = 0;
  for (size_t cluster = 0; cluster < counts.size(); ++cluster) {
    if (counts[cluster] > 0) continue;
    while (next < far.size() && counts[labels[far[next].second]] < 2) ++next;
    if (next == far.size() || far[next].first == 0) break;
    const int64_t sample = far[next++].second;
    --counts[labels[sample]];
    ++counts[cluster];
    refills.push_back({sample, labels[sample], static_cast<int32_t>(cluster)});
  }
  return refills;
}

LloydResult lloyd(const CenteredRows& x, Centers centers, const LloydOptions& options) {
  Iteration iteration(x, std::move(centers), options.bounds);
  const int64_t iterations = iterate_lloyd(iteration, options);
  LloydResult result = std::move(iteration.result);
  result.iterations = iterations;
  const std::vector<int32_t>& labels = iteration.labels();
  std::vector<double> sums(ceil_div(x.count(), kRowsPerProduct));
  for_each_centered_block(x, [&](const float* rows, int64_t begin, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += squared_distance(rows + i * x.features(), result.centers.row(labels[begin + i]),
                              x.features());
    sums[begin / kRowsPerProduct] = sum;
  });
  for (const double sum : sums) result.inertia += sum;
  result.labels = tensor_from(labels, Device::cpu());
  return result;
}

}  // namespace kaiseki::ml
