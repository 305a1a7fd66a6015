// SPDX-License-Identifier: MIT
#include "ml/metrics/classification.h"

#include <algorithm>
#include <map>

#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

struct LabelPairs {
  std::vector<int32_t> truth, predicted;
  std::vector<int32_t> classes;  // all labels that occur, ascending
};

/// Reads the labels without the classes, which would need a sort.
LabelPairs read_labels_of(const Tensor& truth, const Tensor& predicted, std::string_view name) {
  require(truth.defined() && truth.size() > 0, name, "expected at least one label, got ",
          truth.shape());
  return {read_labels(truth, truth.dim(0), name), read_labels(predicted, truth.dim(0), name), {}};
}

LabelPairs read_pairs(const Tensor& truth, const Tensor& predicted, std::string_view name) {
  LabelPairs pairs = read_labels_of(truth, predicted, name);
  std::vector<int32_t> all = pairs.truth;
  all.insert(all.end(), pairs.predicted.begin(), pairs.predicted.end());
  pairs.classes = encode_labels(all).classes;
  return pairs;
}

/// The counts of one class.
struct ClassCounts {
  int64_t hits = 0, predicted = 0, support = 0;
};

std::vector<ClassCounts> count_classes(const LabelPairs& pairs, std::string_view name) {
  const std::vector<int32_t> truth = encode_labels(pairs.truth, pairs.classes, name);
  const std::vector<int32_t> predicted = encode_labels(pairs.predicted, pairs.classes, name);
  std::vector<ClassCounts> counts(pairs.classes.size());
  for (size_t i = 0; i < truth.size(); ++i) {
    const auto t = static_cast<size_t>(truth[i]), p = static_cast<size_t>(predicted[i]);
    ++counts[t].support;
    ++counts[p].predicted;
    counts[t].hits += t == p;
  }
  return counts;
}

double ratio(int64_t part, int64_t whole, double zero_division) {
  if (whole == 0) return zero_division;
  return static_cast<double>(part) / static_cast<double>(whole);
}

enum class ScoreKind : uint8_t { precision, recall, f1 };

double score_of(const ClassCounts& c, ScoreKind kind, double zero_division) {
  if (kind == ScoreKind::precision) return ratio(c.hits, c.predicted, zero_division);
  if (kind == ScoreKind::recall) return ratio(c.hits, c.support, zero_division);
  return ratio(2 * c.hits, c.predicted + c.support, zero_division);
}

/// The counts of the positive label.
ClassCounts positive_counts(const LabelPairs& pairs, const std::vector<ClassCounts>& counts,
                            int32_t label, std::string_view name) {
  const std::vector<int32_t>& classes = pairs.classes;
  require(classes.size() <= 2, name, "expected two classes for a binary score, got ",
          classes.size(), "; select another average");
  const auto found = std::find(classes.begin(), classes.end(), label);
  require(found != classes.end() || classes.size() < 2, name, "expected pos_label ", label,
          " among the labels, got ", classes.front(), " and ", classes.back());
  if (found == classes.end()) return {};
  return counts[static_cast<size_t>(found - classes.begin())];
}

double average_score(const Tensor& truth, const Tensor& predicted, ScoreKind kind,
                     const ScoreOptions& options, std::string_view name) {
  const LabelPairs pairs = read_pairs(truth, predicted, name);
  const std::vector<ClassCounts> counts = count_classes(pairs, name);
  if (options.average == ScoreAverage::binary)
    return score_of(positive_counts(pairs, counts, options.pos_label, name), kind,
                    options.zero_division);
  if (options.average == ScoreAverage::micro) {
    ClassCounts sum;
    for (const ClassCounts& c : counts) {
      sum.hits += c.hits;
      sum.predicted += c.predicted;
      sum.support += c.support;
    }
    return score_of(sum, kind, options.zero_division);
  }
  double total = 0, weights = 0;
  for (const ClassCounts& c : counts) {
    const bool macro = options.average == ScoreAverage::macro;
    const double weight = macro ? 1 : static_cast<double>(c.support);
    total += weight * score_of(c, kind, options.zero_division);
    weights += weight;
  }
  return total / weights;
}

}  // namespace

double accuracy_score(const Tensor& truth, const Tensor& predicted) {
  const LabelPairs pairs = read_labels_of(truth, predicted, "accuracy_score");
  int64_t hits = 0;
  for (size_t i = 0; i < pairs.truth.size(); ++i) hits += pairs.truth[i] == pairs.predicted[i];
  return static_cast<double>(hits) / static_cast<double>(pairs.truth.size());
}

Tensor confusion_matrix(const Tensor& truth, const Tensor& predicted,
                        const std::vector<int32_t>& labels) {
  const LabelPairs pairs = read_pairs(truth, predicted, "confusion_matrix");
  const std::vector<int32_t>& classes = labels.empty() ? pairs.classes : labels;
  std::map<int32_t, int64_t> positions;
  for (int32_t label : classes) {
    require(!positions.count(label), "confusion_matrix", "expected each label once, got ", label,
            " twice");
    positions.emplace(label, static_cast<int64_t>(positions.size()));
  }
  const auto count = static_cast<int64_t>(classes.size());
  Tensor matrix = Tensor::zeros({count, count}, DType::i32, Device::cpu());
  int32_t* cells = matrix.mutable_data<int32_t>();
  for (size_t i = 0; i < pairs.truth.size(); ++i) {
    const auto row = positions.find(pairs.truth[i]), column = positions.find(pairs.predicted[i]);
    if (row != positions.end() && column != positions.end())
      ++cells[row->second * count + column->second];
  }
  return matrix.to(truth.device());
}

double precision_score(const Tensor& truth, const Tensor& predicted, const ScoreOptions& options) {
  return average_score(truth, predicted, ScoreKind::precision, options, "precision_score");
}

double recall_score(const Tensor& truth, const Tensor& predicted, const ScoreOptions& options) {
  return average_score(truth, predicted, ScoreKind::recall, options, "recall_score");
}

double f1_score(const Tensor& truth, const Tensor& predicted, const ScoreOptions& options) {
  return average_score(truth, predicted, ScoreKind::f1, options, "f1_score");
}

ClassScores precision_recall_fscore_support(const Tensor& truth, const Tensor& predicted,
                                            double zero_division) {
  const std::string_view name = "precision_recall_fscore_support";
  const LabelPairs pairs = read_pairs(truth, predicted, name);
  ClassScores scores;
  scores.classes = pairs.classes;
  for (const ClassCounts& c : count_classes(pairs, name)) {
    scores.precision.push_back(score_of(c, ScoreKind::precision, zero_division));
    scores.recall.push_back(score_of(c, ScoreKind::recall, zero_division));
    scores.f1.push_back(score_of(c, ScoreKind::f1, zero_division));
    scores.support.push_back(c.support);
  }
  return scores;
}

}  // namespace kaiseki::ml
