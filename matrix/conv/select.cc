// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "matrix/conv/run_plan.h"

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
  bool computed = false;
  const auto planned = conv::find_plan(backend, problem, args, computed);
  for (uint64_t bytes : planned->wanted) backend.device().workspace().register_size(bytes);
  const int64_t pieces = computed ? 0 : planned->plan.pieces;
  if (pieces == 1) conv::run_plan(backend, planned->plan, problem, args);
  for (int64_t i = 0; pieces > 1 && i < pieces; ++i) {
    const conv::Piece piece(problem, args, i * problem.n / pieces, (i + 1) * problem.n / pieces);
    conv::run_plan(backend, planned->plan, piece.problem, piece.args);
  }
  finish(backend, problem);
}

bool run_pooled_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  const auto planned = conv::find_plan_unmeasured(backend, problem);
  if (!planned || planned->plan.pieces != 1) return false;
  const auto& order = planned->plan.order;
  const auto chosen = std::ranges::find_if(order, [&](const ConvSolver* solver) {
    return solver->workspace_bytes(problem) <= planned->available;
  });
  if (chosen == order.end() || !(*chosen)->pools(problem)) return false;
  PoolArgs pool = *args.pool;
  const Shape shape = {problem.n, problem.k, pool.out_h, pool.out_w};
  Tensor y, indices;
  if (pool.y && !pool.y->defined()) {
    y = Tensor(shape, DType::f32, args.x->device());
    pool.y = &y;
  }
  if (pool.y && pool.indices && !pool.indices->defined()) {
    indices = Tensor(shape, DType::i32, args.x->device());
    pool.indices = &indices;
  }
  const PoolArgs& caller = *std::exchange(args.pool, &pool);
  try {
    Workspace::Use workspace;
    if (const uint64_t bytes = (*chosen)->workspace_bytes(problem)) {
      workspace = backend.device().workspace().use(bytes);
      if (!workspace.memory.defined()) return false;
      args.workspace = &workspace.memory;
    }
    for (uint64_t bytes : planned->wanted) backend.device().workspace().register_size(bytes);
    const Workspace::Use prepared = conv::prepare(backend, **chosen, problem, args);
    if (prepared.memory.defined()) args.prepared = &prepared.memory;
    (*chosen)->run(problem, args);
  } catch (const std::bad_alloc&) {  // a thread's scratch, before anything was added to a gradient
    return false;
  }
  if (y.defined()) *caller.y = y;
  if (indices.defined()) *caller.indices = indices;
  finish(backend, problem);
  return true;
}

void observe_convolutions(ConvObserver observer) {
  std::lock_guard lock(observing().mutex);
  observing().observer = std::move(observer);
}

}  // namespace kaiseki
