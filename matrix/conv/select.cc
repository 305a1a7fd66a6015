// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "base/error.h"
#include "matrix/backend/operations/pooling.h"
#include "matrix/conv/run_plan.h"
#include "matrix/has_devices.h"
#include "matrix/memory/workspace.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki {
namespace {

struct Observing {
  std::mutex mutex;
  ConvObserver observer;
};

Observing& observing() {
  static auto* one = new Observing;
  return *one;
}

Workspace::Caller caller_of(const ConvProblem& problem, const ConvArgs& args) {
  return {&args.filter->buffer(), args.filter->offset(), static_cast<int>(problem.direction)};
}

void finish(Backend& backend, const ConvProblem& problem) {
  ConvObserver observer;
  {
    std::lock_guard lock(observing().mutex);
    observer = observing().observer;
  }
  if (observer) observer(backend, problem);
}

}  // namespace

void run_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  Workspace& workspace = backend.device().workspace();
  const Workspace::Caller caller = caller_of(problem, args);
  workspace.begin_convolution(caller);
  conv::MeasuredPlan found{conv::plan_for(backend, problem), false};
  if (!found.plan) found = conv::measure_plan(backend, problem, args);
  const conv::ConvPlan& plan = *found.plan;
  workspace.request_sizes(plan.wanted, caller);
  const int64_t pieces = found.computed ? 0 : plan.pieces;
  if (pieces == 1) conv::run_plan(backend, plan, problem, args);
  for (int64_t i = 0; pieces > 1 && i < pieces; ++i) {
    const conv::ImageRange piece(problem, args, i * problem.n / pieces,
                                 (i + 1) * problem.n / pieces);
    conv::run_plan(backend, plan, piece.problem, piece.args);
  }
  finish(backend, problem);
}

bool run_pooled_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  Workspace& shared = backend.device().workspace();
  const Workspace::Caller caller = caller_of(problem, args);
  shared.begin_convolution(caller);
  const auto plan = conv::plan_for(backend, problem);
  if (!plan || plan->pieces != 1) return false;
  const auto& order = plan->order;
  const auto chosen = std::ranges::find_if(order, [&](const ConvSolver* solver) {
    return solver->workspace_bytes(problem) <= plan->available;
  });
  if (chosen == order.end() || !(*chosen)->fuses_pooling(problem)) return false;
  PoolingArgs pooling = *args.pooling;
  const Shape shape = {problem.n, problem.k, pooling.out_h, pooling.out_w};
  Tensor y, indices;
  if (pooling.y && !pooling.y->defined()) {
    y = Tensor(shape, DType::f32, args.x->device());
    pooling.y = &y;
  }
  if (pooling.y && pooling.indices && !pooling.indices->defined()) {
    indices = Tensor(shape, DType::i32, args.x->device());
    pooling.indices = &indices;
  }
  const std::array<const Tensor*, 5> tensors = {args.x, args.filter, pooling.y, pooling.indices,
                                                pooling.dy};
  if (kHasDevices && !pieces::bring_back(tensors)) return false;  // each operation runs alone
  const PoolingArgs& wanted = *std::exchange(args.pooling, &pooling);
  try {
    Workspace::HeldBlock workspace;
    if (const uint64_t bytes = (*chosen)->workspace_bytes(problem)) {
      workspace = shared.use(bytes);
      if (!workspace.memory.defined()) return false;
      args.workspace = &workspace.memory;
    }
    shared.request_sizes(plan->wanted, caller);
    const Workspace::HeldBlock prepared = conv::prepare(backend, **chosen, problem, args);
    if (prepared.memory.defined()) args.prepared = &prepared.memory;
    (*chosen)->run(problem, args);
  } catch (const std::bad_alloc&) {  // no scratch memory; the gradient is unchanged
    return false;
  }
  if (y.defined()) *wanted.y = y;
  if (indices.defined()) *wanted.indices = indices;
  finish(backend, problem);
  return true;
}

void observe_convolutions(ConvObserver observer) {
  std::lock_guard lock(observing().mutex);
  observing().observer = std::move(observer);
}

}  // namespace kaiseki
