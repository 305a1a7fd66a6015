// SPDX-License-Identifier: MIT
#include "nn/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "matrix/ceil_div.h"
#include "nn/data/iterator.h"
#include "nn/train/network_batch.h"

namespace kaiseki::nn {
namespace {

struct EvaluationCounts {
  int64_t samples = 0, top1 = 0, top5 = 0;
  double loss_sum = 0;
};

void count(const Network::Loss& result, const Tensor& labels, EvaluationCounts& counts,
           Evaluation& into) {
  const int64_t n = labels.dim(0);
  counts.samples += n;
  counts.loss_sum += static_cast<double>(result.loss.item()) * static_cast<double>(n);
  if (!into.classes) return;
  const float* scores = result.output.data<float>();
  const int32_t* label = labels.data<int32_t>();
  for (int64_t i = 0; i < n; ++i, scores += into.classes) {
    if (label[i] < 0 || label[i] >= into.classes) continue;
    const float own = scores[label[i]];
    if (std::any_of(scores, scores + into.classes, [](float x) { return std::isnan(x); })) continue;
    int rank = 0;
    for (int c = 0; c < into.classes; ++c)
      rank += scores[c] > own || (scores[c] == own && c < label[i]);
    counts.top1 += rank == 0;
    counts.top5 += rank < 5;
    const auto best = std::max_element(scores, scores + into.classes) - scores;
    ++into.confusion[static_cast<size_t>(label[i]) * into.classes + best];
  }
}

}  // namespace

Evaluation evaluate(Network& network, std::shared_ptr<const Dataset> data,
                    const EvaluateOptions& options) {
  IteratorOptions order;
  order.batch_size =
      ceil_div(options.batch_size, network.parts_of_batch(options.batch_size, Phase::test));
  order.shuffle = order.repeat = false;
  Iterator iterator(std::move(data), order);

  Evaluation evaluation;
  EvaluationCounts counts;
  const Shape output = network.output_shape();
  if (output.rank() == 1) {
    evaluation.classes = static_cast<int>(output[0]);
    evaluation.confusion.resize(static_cast<size_t>(output[0]) * output[0]);
  }
  for (Batch batch; next_batch(iterator, network, batch);) {
    count(network.forward_loss(inputs_of(batch, network), batch.labels, Phase::test), batch.labels,
          counts, evaluation);
    if (options.progress) options.progress(counts.samples);
  }
  const double n = static_cast<double>(std::max<int64_t>(1, counts.samples));
  evaluation.samples = counts.samples;
  evaluation.loss = counts.loss_sum / n;
  evaluation.top1 = static_cast<double>(counts.top1) / n;
  evaluation.top5 = static_cast<double>(counts.top5) / n;
  return evaluation;
}

}  // namespace kaiseki::nn
