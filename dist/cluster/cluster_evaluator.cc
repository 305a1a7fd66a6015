// SPDX-License-Identifier: MIT
#include "dist/cluster/cluster_evaluator.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dist/cluster/collectives.h"
#include "nn/train/trainer.h"

namespace kaiseki::dist {
namespace {

/// Some samples of a data set, in their order.
class PartOfData : public nn::Dataset {
 public:
  PartOfData(std::shared_ptr<const nn::Dataset> whole, const RankPart& part)
      : whole_(std::move(whole)), part_(part) {}
  int64_t size() const override { return part_.count; }
  Shape sample_shape() const override { return whole_->sample_shape(); }
  int classes() const override { return whole_->classes(); }
  std::vector<std::string> class_names() const override { return whole_->class_names(); }
  nn::Normalization normalization() const override { return whole_->normalization(); }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    whole_->read(part_.first + index, out, label, augmentation);
  }

 private:
  std::shared_ptr<const nn::Dataset> whole_;
  RankPart part_;
};

std::shared_ptr<const nn::Dataset> part_of(std::shared_ptr<const nn::Dataset> data,
                                           const RankPart& part) {
  return std::make_shared<PartOfData>(std::move(data), part);
}

/// The evaluation of a rank without samples.
nn::Evaluation nothing_of(const nn::Network& network) {
  nn::Evaluation nothing;
  const Shape output = network.output_shape();
  if (output.rank() != 1) return nothing;
  nothing.classes = static_cast<int>(output[0]);
  nothing.confusion.resize(static_cast<size_t>(output[0] * output[0]));
  return nothing;
}

/// Adds in f32. Counts up to 2^24 are exact.
void sum(Communicator& ranks, nn::Evaluation& evaluation) {
  const auto samples = static_cast<float>(evaluation.samples);
  std::vector<float> totals = {samples, samples * static_cast<float>(evaluation.loss),
                               std::round(samples * static_cast<float>(evaluation.top1)),
                               std::round(samples * static_cast<float>(evaluation.top5))};
  for (const int64_t count : evaluation.confusion) totals.push_back(static_cast<float>(count));
  all_reduce(ranks, totals);
  evaluation.samples = static_cast<int64_t>(totals[0]);
  evaluation.loss = totals[1] / totals[0];
  evaluation.top1 = static_cast<double>(totals[2]) / totals[0];
  evaluation.top5 = static_cast<double>(totals[3]) / totals[0];
  for (size_t i = 0; i < evaluation.confusion.size(); ++i)
    evaluation.confusion[i] = static_cast<int64_t>(totals[4 + i]);
}

}  // namespace

nn::Evaluation evaluate_on(Cluster& cluster, nn::Network& network,
                           std::shared_ptr<const nn::Dataset> data,
                           const nn::EvaluateOptions& options) {
  if (data->size() == 0) throw Error(message("cluster", "expected samples to evaluate, got none"));
  const RankPart part = {cluster.share().first(data->size()), cluster.share().count(data->size())};
  try {
    nn::Evaluation evaluation = part.count > 0
                                    ? evaluate(network, part_of(std::move(data), part), options)
                                    : nothing_of(network);
    sum(cluster.ranks(), evaluation);
    return evaluation;
  } catch (...) {
    cluster.ranks().cancel();
    throw;
  }
}

ClusterEvaluator::ClusterEvaluator(Cluster& cluster, std::shared_ptr<const nn::Dataset> data,
                                   const nn::EvaluateOptions& options, int64_t every)
    : cluster_(cluster),
      data_(std::move(data)),
      options_(options),
      every_(std::max<int64_t>(1, every)) {}

void ClusterEvaluator::on_epoch(nn::Trainer& trainer) {
  if (trainer.epoch() % every_ != 0 && trainer.epoch() != trainer.options().epochs) return;
  trainer.set_evaluation(evaluate_on(cluster_, trainer.updater().network(), data_, options_));
}

}  // namespace kaiseki::dist
