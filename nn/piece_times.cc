// SPDX-License-Identifier: MIT
#include "nn/piece_times.h"

#include <algorithm>

#include "matrix/ceil_div.h"
#include "matrix/conv/out_of_core/split.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kMostPieces = 1 << 20;  // more take longer in any case

}  // namespace

StepPieces PieceTimes::of(const ExecutionPlan& plan, size_t time, const StepMemory& memory) {
  const bool backward = time >= plan.steps.size();
  const size_t i = backward ? 2 * plan.steps.size() - 1 - time : time;
  const PlanStep& step = plan.steps[i];
  const LayerShape& shape = graph_.nodes[static_cast<size_t>(step.node)].shape;
  const double seconds = backward ? times_[i].backward : times_[i].forward;
  if (!shape.convolution) return of_other(seconds, memory.own);
  std::vector<ConvDirection> directions = {ConvDirection::forward};
  if (backward) directions = {ConvDirection::backward_filter};
  if (backward && plan.needs_gradient[static_cast<size_t>(step.inputs[0])])
    directions.push_back(ConvDirection::backward_data);
  StepPieces all{.compute = seconds};
  for (const ConvDirection direction : directions) {
    ConvProblem problem = *shape.convolution;
    problem.n = limits_.batch;
    problem.direction = direction;
    const std::optional<StepPieces> one = of_convolution(problem);
    if (!one) return of_other(seconds, memory.own);
    all.count = std::max(all.count, one->count);
    all.seconds += one->seconds;
  }
  all.seconds = std::max(all.seconds, seconds);  // the rate of products is not all of a step's time
  return all;
}

/// Chooses about as conv::run_in_pieces() does, which knows the free memory.
std::optional<StepPieces> PieceTimes::of_convolution(const ConvProblem& problem) {
  const auto [at, is_new] = convolutions_.try_emplace(problem);
  if (!is_new) return at->second;
  const pieces::PieceCosts costs = conv::convolution_costs(
      problem, limits_.rates,
      limits_.known_seconds ? limits_.known_seconds(problem) : std::nullopt);
  for (const uint64_t parts : {2 * pieces::kPiecesAtOnce, pieces::kPiecesAtOnce, uint64_t{1}})
    if (const auto size = conv::choose_pieces(problem, limits_.room / parts, costs)) {
      at->second = {conv::piece_count(problem, *size),
                    conv::predict_seconds(problem, *size, costs)};
      break;
    }
  return at->second;
}

/// Half of the bytes are copied to the device, and half back. More pieces than necessary let copies
/// begin earlier, but each takes a kernel's start.
StepPieces PieceTimes::of_other(double seconds, uint64_t bytes) const {
  const pieces::PieceCosts costs = pieces::piece_costs(limits_.rates);
  const double half = static_cast<double>(bytes) / 2;
  const double in = half * costs.to_device, out = half * costs.to_host;
  const auto of_all = [&](int64_t count) {
    const auto pieces = static_cast<double>(count);
    const pieces::PieceSeconds one{in / pieces, seconds / pieces + costs.start, out / pieces};
    return StepPieces{count, one.of_all(count), seconds};
  };
  const uint64_t room = std::max<uint64_t>(1, limits_.room);
  StepPieces best = of_all(static_cast<int64_t>(ceil_div(pieces::kPiecesAtOnce * bytes, room)));
  while (best.count < kMostPieces) {
    const StepPieces more = of_all(2 * best.count);
    if (more.seconds >= best.seconds) break;
    best = more;
  }
  return best;
}

}  // namespace kaiseki::nn
