// SPDX-License-Identifier: MIT
#include "ml/metrics/ranking.h"

#include <algorithm>
#include <numeric>

#include "matrix/ops/check.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

/// The numbers of positive and negative samples with at least this score.
struct RocPoint {
  double threshold;
  int64_t positives, negatives;
};

/// The points of all different scores, descending.
std::vector<RocPoint> roc_points(const std::vector<float>& scores,
                                 const std::vector<uint8_t>& positive) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  std::vector<RocPoint> points;
  int64_t positives = 0, negatives = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto sample = static_cast<size_t>(order[i]);
    ++(positive[sample] ? positives : negatives);
    const bool last =
        i + 1 == order.size() || scores[static_cast<size_t>(order[i + 1])] != scores[sample];
    if (last) points.push_back({scores[sample], positives, negatives});
  }
  return points;
}

/// The area, from the trapezoids between neighboring points.
double area(const std::vector<RocPoint>& points) {
  double sum = 0;
  RocPoint before{0, 0, 0};
  for (const RocPoint& p : points) {
    sum += static_cast<double>(p.negatives - before.negatives) *
           static_cast<double>(p.positives + before.positives) / 2;
    before = p;
  }
  return sum / (static_cast<double>(before.positives) * static_cast<double>(before.negatives));
}

double one_vs_rest(const Tensor& host, const LabelCodes& labels, bool weighted) {
  const auto n = static_cast<int64_t>(labels.codes.size());
  const int64_t classes = host.dim(1);
  double total = 0, weights = 0;
  for (int64_t c = 0; c < classes; ++c) {
    std::vector<float> scores;
    std::vector<uint8_t> positive;
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(host.data<float>()[i * classes + c]);
      positive.push_back(labels.codes[static_cast<size_t>(i)] == c);
    }
    const auto support = std::count(positive.begin(), positive.end(), uint8_t{1});
    const double weight = weighted ? static_cast<double>(support) : 1;
    total += weight * area(roc_points(scores, positive));
    weights += weight;
  }
  return total / weights;
}

double one_vs_one(const Tensor& host, const LabelCodes& labels, bool weighted) {
  const int64_t classes = host.dim(1);
  const float* s = host.data<float>();
  double total = 0, weights = 0;
  for (int32_t a = 0; a < classes; ++a)
    for (int32_t b = a + 1; b < classes; ++b) {
      std::vector<float> scores_a, scores_b;
      std::vector<uint8_t> is_a, is_b;
      for (size_t i = 0; i < labels.codes.size(); ++i) {
        const int32_t code = labels.codes[i];
        if (code != a && code != b) continue;
        scores_a.push_back(s[static_cast<int64_t>(i) * classes + a]);
        scores_b.push_back(s[static_cast<int64_t>(i) * classes + b]);
        is_a.push_back(code == a);
        is_b.push_back(code == b);
      }
      const double weight = weighted ? static_cast<double>(is_a.size()) : 1;
      total += weight * (area(roc_points(scores_a, is_a)) + area(roc_points(scores_b, is_b))) / 2;
      weights += weight;
    }
  return total / weights;
}

}  // namespace

RocCurve roc_curve(const Tensor& truth, const Tensor& scores, const RocOptions& options) {
  const std::string_view name = "roc_curve";
  check_tensor(scores, "scores", name);
  require(scores.rank() == 1 && scores.size() > 0, name,
          "expected scores of shape [n] with n > 0, got ", scores.shape());
  const std::vector<int32_t> labels = read_labels(truth, scores.dim(0), name);
  check_finite(scores, "scores", name);
  std::vector<uint8_t> positive;
  for (int32_t label : labels) positive.push_back(label == options.pos_label);
  const std::vector<RocPoint> points = roc_points(scores.to_vector(), positive);
  const int64_t positives = points.back().positives, negatives = points.back().negatives;
  require(positives > 0 && negatives > 0, name, "expected positive and negative samples, got ",
          positives, " and ", negatives);
  RocCurve curve{{0}, {0}, {points.front().threshold + 1}};
  RocPoint before{0, 0, 0};
  for (size_t i = 0; i < points.size(); ++i) {
    const RocPoint& p = points[i];
    const bool straight =
        i > 0 && i + 1 < points.size() &&
        p.positives - before.positives == points[i + 1].positives - p.positives &&
        p.negatives - before.negatives == points[i + 1].negatives - p.negatives;
    before = p;
    if (options.drop_intermediate && points.size() > 2 && straight) continue;
    curve.fpr.push_back(static_cast<double>(p.negatives) / static_cast<double>(negatives));
    curve.tpr.push_back(static_cast<double>(p.positives) / static_cast<double>(positives));
    curve.thresholds.push_back(p.threshold);
  }
  return curve;
}

double roc_auc_score(const Tensor& truth, const Tensor& scores, const AucOptions& options) {
  const std::string_view name = "roc_auc_score";
  check_tensor(scores, "scores", name);
  require((scores.rank() == 1 || scores.rank() == 2) && scores.size() > 0, name,
          "expected scores of shape [n] or [n, classes] with n > 0, got ", scores.shape());
  const LabelCodes labels = encode_labels(read_labels(truth, scores.dim(0), name));
  check_finite(scores, "scores", name);
  const auto classes = static_cast<int64_t>(labels.classes.size());
  require(classes > 1, name, "expected at least two classes, got ", classes);
  if (scores.rank() == 1) {
    require(classes == 2, name, "expected scores of shape [n, classes] for ", classes,
            " classes, got ", scores.shape());
    const std::vector<uint8_t> positive(labels.codes.begin(), labels.codes.end());
    return area(roc_points(scores.to_vector(), positive));
  }
  require(scores.dim(1) == classes && classes > 2, name, "expected scores of shape ",
          classes == 2 ? "[n]" : "[n, classes]", " for ", classes, " classes, got ",
          scores.shape());
  const Tensor host = on_host(scores);
  return options.multi_class == MultiClass::one_vs_rest
             ? one_vs_rest(host, labels, options.weighted)
             : one_vs_one(host, labels, options.weighted);
}

}  // namespace kaiseki::ml
