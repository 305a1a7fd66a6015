// SPDX-License-Identifier: MIT
#include "ml/cluster/mini_batch_kmeans.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "ml/cluster/kmeans_start.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/samples.h"

namespace kaiseki::ml {

/// The centers between two batches.
struct MiniBatchKMeans::State {
  Centers centers;             // of samples as they are, without a mean
  std::vector<double> counts;  // [n_clusters]
  int64_t since_reassignment = 0;

  double update(const CenteredRows& batch, Random* reassign, double ratio);
  void start_anew(const CenteredRows& batch, Random& random, double ratio);
};

namespace {

constexpr std::string_view kName = "MiniBatchKMeans";

Tensor gather_rows(const Tensor& x, const std::vector<int64_t>& rows) {
  Tensor batch({static_cast<int64_t>(rows.size()), x.dim(1)}, DType::f32, Device::cpu());
  const float* from = x.data<float>();
  float* to = batch.overwrite<float>();
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy_n(from + rows[i] * x.dim(1), x.dim(1), to + static_cast<int64_t>(i) * x.dim(1));
  return batch;
}

std::vector<int64_t> draw_rows(int64_t count, int64_t bound, Random& random) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (int64_t& row : rows) row = static_cast<int64_t>(random.below(static_cast<uint64_t>(bound)));
  return rows;
}

/// Rows relative to `mean`, so that all batches share one origin.
CenteredRows batch_rows(const Tensor& x, const std::vector<float>& mean) {
  return CenteredRows(x, mean);
}

double inertia_of(const CenteredRows& rows, const Centers& centers) {
  std::vector<int32_t> labels(static_cast<size_t>(rows.count()));
  return assign_nearest(rows, centers, labels.data());
}

Centers best_start(const Tensor& x, const std::vector<float>& mean,
                   const MiniBatchKMeansOptions& options, Random& random) {
  const int64_t size = std::min(x.dim(0), std::max(3 * options.batch_size, 3 * options.n_clusters));
  const CenteredRows validation =
      batch_rows(gather_rows(x, draw_rows(size, x.dim(0), random)), mean);
  if (options.centers.defined()) return relative_centers(options.centers, validation.origin());
  Centers best;
  double least = 0;
  for (int64_t start = 0; start < options.n_init; ++start) {
    const CenteredRows some =
        batch_rows(gather_rows(x, choose_different(size, x.dim(0), random)), mean);
    Centers centers = options.init == KMeansInit::random
                          ? random_samples(some, options.n_clusters, random)
                          : kmeans_plus_plus(some, options.n_clusters, random);
    const double inertia = inertia_of(validation, centers);
    if (start == 0 || inertia < least) best = std::move(centers), least = inertia;
  }
  return best;
}

/// Decides when fit() stops, from a moving average of the inertia of batches.
class Convergence {
 public:
  Convergence(int64_t samples, int64_t batch_size, const MiniBatchKMeansOptions& options)
      : weight_(std::min(1.0,
                         2.0 * static_cast<double>(batch_size) / static_cast<double>(samples + 1))),
        options_(options) {}

  bool stops(double batch_inertia, double moved, double tolerance) {
    // The first batch shows the start, not an update.
    if (++batches_ == 1) return false;
    average_ = batches_ == 2 ? batch_inertia : average_ * (1 - weight_) + batch_inertia * weight_;
    if (tolerance > 0 && moved <= tolerance) return true;
    if (average_ < least_) {
      least_ = average_;
      without_improvement_ = 0;
    } else {
      ++without_improvement_;
    }
    return without_improvement_ >= options_.max_no_improvement;
  }

 private:
  const double weight_;
  const MiniBatchKMeansOptions& options_;
  double average_ = 0, least_ = std::numeric_limits<double>::infinity();
  int64_t batches_ = 0, without_improvement_ = 0;
};

double squared_movement(const Centers& from, const Centers& to) {
  double sum = 0;
  for (int64_t j = 0; j < from.count; ++j)
    sum += squared_distance(from.row(j), to.row(j), from.features);
  return sum;
}

}  // namespace

/// Returns the inertia of the batch before the update. `reassign`: nullptr, or the random numbers
/// for clusters that get new centers.
double MiniBatchKMeans::State::update(const CenteredRows& batch, Random* reassign, double ratio) {
  const int64_t features = centers.features;
  std::vector<int32_t> labels(static_cast<size_t>(batch.count()));
  const double inertia = assign_nearest(batch, centers, labels.data());
  std::vector<double> sums(centers.values.size()), added(counts.size());
  std::vector<float> row(static_cast<size_t>(features));
  for (int64_t i = 0; i < batch.count(); ++i) {
    batch.copy_row(i, row.data());
    double* sum = sums.data() + labels[i] * features;
    for (int64_t f = 0; f < features; ++f) sum[f] += row[f];
    ++added[labels[i]];
  }
  for (int64_t j = 0; j < centers.count; ++j) {
    if (added[j] == 0) continue;
    const double count = counts[j] + added[j];
    float* center = centers.row(j);
    for (int64_t f = 0; f < features; ++f)
      center[f] = static_cast<float>(
          (static_cast<double>(center[f]) * counts[j] + sums[j * features + f]) / count);
    counts[j] = count;
  }
  if (reassign) start_anew(batch, *reassign, ratio);
  centers.update_norms();
  return inertia;
}

/// Clusters with few samples get random samples of the batch as centers.
void MiniBatchKMeans::State::start_anew(const CenteredRows& batch, Random& random, double ratio) {
  const double limit = ratio * *std::max_element(counts.begin(), counts.end());
  std::vector<int64_t> few;
  double least_of_others = 0;
  for (int64_t j = 0; j < centers.count; ++j)
    if (counts[j] < limit) few.push_back(j);
  std::stable_sort(few.begin(), few.end(),
                   [&](int64_t a, int64_t b) { return counts[a] < counts[b]; });
  few.resize(std::min(few.size(), static_cast<size_t>(batch.count() / 2)));
  for (int64_t j = 0; j < centers.count; ++j)
    if (std::find(few.begin(), few.end(), j) == few.end() &&
        (least_of_others == 0 || counts[j] < least_of_others))
      least_of_others = counts[j];
  const std::vector<int64_t> samples =
      choose_different(static_cast<int64_t>(few.size()), batch.count(), random);
  for (size_t i = 0; i < few.size(); ++i) {
    batch.copy_row(samples[i], centers.row(few[i]));
    counts[few[i]] = least_of_others;
  }
}

MiniBatchKMeans::MiniBatchKMeans(MiniBatchKMeansOptions options) : options_(std::move(options)) {
  check_at_least(options_.n_clusters, 1, "n_clusters", kName);
  check_at_least(options_.n_init, 1, "n_init", kName);
  check_at_least(options_.max_iter, 1, "max_iter", kName);
  check_at_least(options_.batch_size, 1, "batch_size", kName);
  check_at_least(options_.max_no_improvement, 1, "max_no_improvement", kName);
  if (!(options_.tol >= 0 && options_.reassignment_ratio >= 0))
    throw Error(message(kName, "expected tol and reassignment_ratio of 0 or more, got ",
                        options_.tol, " and ", options_.reassignment_ratio));
}

void MiniBatchKMeans::publish(const State& state, const std::vector<float>& origin, const Tensor& x,
                              int64_t steps) {
  const Tensor centers = absolute_centers(state.centers, origin, x.device());
  NearestCenters nearest = nearest_centers(x, centers, kName);
  check_inertia(nearest.inertia, kName);
  centers_ = centers;
  counts_ = state.counts;
  since_reassignment_ = state.since_reassignment;
  n_steps_ = steps;
  labels_ = nearest.labels;
  inertia_ = nearest.inertia;
}

void MiniBatchKMeans::fit(const Tensor& x) {
  check_samples(x, kName);
  const Tensor host = on_host(x);
  const int64_t n = x.dim(0);
  require(n >= options_.n_clusters, kName, "expected at least ", options_.n_clusters,
          " samples for n_clusters ", options_.n_clusters, ", got ", n);
  if (options_.centers.defined()) {
    check_samples(options_.centers, x.dim(1), kName);
    require(options_.centers.dim(0) == options_.n_clusters, kName, "expected ", options_.n_clusters,
            " centers, got ", options_.centers.dim(0));
  }
  Random random(options_.seed);
  const std::vector<double> means = column_means(host);
  const std::vector<float> mean(means.begin(), means.end());
  const int64_t batch_size = std::min(options_.batch_size, n);
  const double tolerance =
      options_.tol > 0 ? options_.tol * CenteredRows(host, mean).mean_variance() : 0;
  State state{best_start(host, mean, options_, random),
              std::vector<double>(static_cast<size_t>(options_.n_clusters))};
  Convergence convergence(n, batch_size, options_);
  const int64_t most = options_.max_iter * n / batch_size;
  int64_t steps = 0;
  for (bool stop = false; !stop && steps < most; ++steps) {
    const CenteredRows batch =
        batch_rows(gather_rows(host, draw_rows(batch_size, n, random)), mean);
    state.since_reassignment += batch_size;
    const bool anew = state.since_reassignment >= 10 * options_.n_clusters ||
                      std::find(state.counts.begin(), state.counts.end(), 0) != state.counts.end();
    if (anew) state.since_reassignment = 0;
    const Centers before = state.centers;
    const double inertia =
        state.update(batch, anew ? &random : nullptr, options_.reassignment_ratio);
    stop = convergence.stops(inertia / static_cast<double>(batch_size),
                             squared_movement(before, state.centers), tolerance);
  }
  publish(state, mean, x, steps);
}

void MiniBatchKMeans::partial_fit(const Tensor& x) {
  if (centers_.defined())
    check_samples(x, centers_.dim(1), kName);
  else
    check_samples(x, kName);
  const Tensor host = on_host(x);
  Random random(options_.seed, 1 + static_cast<uint64_t>(n_steps_));
  std::vector<double> means = column_means(host);
  const std::vector<float> mean(means.begin(), means.end());
  const CenteredRows batch(host, mean);
  State state;
  if (centers_.defined()) {
    state = {relative_centers(centers_, batch.origin()), counts_, since_reassignment_};
  } else {
    require(x.dim(0) >= options_.n_clusters, kName, "expected at least ", options_.n_clusters,
            " samples in the first batch, got ", x.dim(0));
    state = {best_start(host, mean, options_, random),
             std::vector<double>(static_cast<size_t>(options_.n_clusters))};
  }
  state.since_reassignment += x.dim(0);
  const bool anew = state.since_reassignment >= 10 * options_.n_clusters;
  if (anew) state.since_reassignment = 0;
  state.update(batch, anew ? &random : nullptr, options_.reassignment_ratio);
  publish(state, batch.origin(), x, n_steps_ + 1);
}

Tensor MiniBatchKMeans::predict(const Tensor& x) const {
  return nearest_centers(x, cluster_centers(), "MiniBatchKMeans::predict").labels;
}

Tensor MiniBatchKMeans::transform(const Tensor& x) const {
  return center_distances(x, cluster_centers(), "MiniBatchKMeans::transform");
}

double MiniBatchKMeans::score(const Tensor& x) const {
  return -nearest_centers(x, cluster_centers(), "MiniBatchKMeans::score").inertia;
}

const Tensor& MiniBatchKMeans::cluster_centers() const {
  check_fitted(centers_.defined(), kName);
  return centers_;
}

const Tensor& MiniBatchKMeans::labels() const {
  check_fitted(centers_.defined(), kName);
  return labels_;
}

double MiniBatchKMeans::inertia() const {
  check_fitted(centers_.defined(), kName);
  return inertia_;
}

int64_t MiniBatchKMeans::n_steps() const {
  check_fitted(centers_.defined(), kName);
  return n_steps_;
}

}  // namespace kaiseki::ml
