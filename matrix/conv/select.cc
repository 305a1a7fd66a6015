// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

/// Images first to last - 1 of a convolution. The tensors are those of `args`.
struct Piece {
  Piece(const ConvProblem& whole, const ConvArgs& all, int64_t first, int64_t last)
      : problem(whole),
        args(all),
        x(all.x->slice(0, first, last - first)),
        y(all.y->slice(0, first, last - first)) {
    problem.n = last - first;
    args.x = &x, args.y = &y;
    if (first > 0) args.beta = 1;
  }
  Piece(const Piece&) = delete;
  ConvProblem problem;
  ConvArgs args;

 private:
  Tensor x, y;
};

struct ConvPlan {
  std::vector<const ConvSolver*> order;  // the first that has room and is not refused runs
  int64_t pieces = 1;  // of the minibatch, each as large as the others or one less
};

/// A plan, what it was made for, and the sizes of workspace that would allow a better one.
struct Planned {
  ConvPlan plan;
  std::vector<uint64_t> wanted;
  uint64_t generation = 0, available = 0;
  bool settled = false;
};

class Planner {
 public:
  Planner(Backend& backend, const ConvProblem& problem, const ConvArgs& args)
      : backend_(backend), problem_(problem), args_(args) {}

  /// Sets `computed` when measuring left the output as it is to be.
  Planned make(bool& computed) {
    const ConvTuning tuning = tune_convolution(backend_, problem_, args_);
    computed = tuning.computed, planned_.settled = tuning.settled;
    planned_.generation = conv_generation();
    planned_.available = backend_.device().workspace().available();
    const auto candidates = conv_candidates(backend_, problem_);
    for (const ConvCandidate& candidate : candidates)
      planned_.plan.order.push_back(candidate.solver);
    const auto whole = std::ranges::find_if(
        candidates, [&](const ConvCandidate& c) { return c.workspace <= planned_.available; });
    if (whole != candidates.end()) least_ = whole->milliseconds;
    for (auto candidate = candidates.begin(); candidate != candidates.end(); ++candidate) {
      const bool untried = std::isinf(candidate->milliseconds) && measures_convolution(problem_);
      if (candidate->workspace <= planned_.available || (candidate > whole && !untried)) continue;
      want(*candidate->solver);
      if (computed)  // measuring pieces would write the output again
        planned_.settled = false;
      else
        try_pieces(*candidate->solver);
    }
    return std::move(planned_);
  }

 private:
  ConvProblem of_size(int64_t n) const {
    ConvProblem part = problem_;
    part.n = n;
    return part;
  }
  int64_t size_of(int64_t pieces) const { return (problem_.n + pieces - 1) / pieces; }

  void want(const ConvSolver& solver) {
    for (int64_t pieces = 1; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      const uint64_t bytes = solver.applicable(part) ? solver.workspace_bytes(part) : 0;
      if (bytes > planned_.available) planned_.wanted.push_back(bytes);
    }
  }

  void try_pieces(const ConvSolver& solver) {
    int64_t pieces = 2;
    for (; pieces <= problem_.n; pieces *= 2) {
      const ConvProblem part = of_size(size_of(pieces));
      if (!solver.applicable(part)) return;
      if (solver.workspace_bytes(part) <= planned_.available) break;
    }
    if (pieces > problem_.n) return;
    const ConvProblem part = of_size(size_of(pieces));
    Piece piece(problem_, args_, 0, part.n);
    const double all =
        static_cast<double>(pieces) * measured_time(backend_, part, piece.args, solver);
    if (all >= least_) return;
    least_ = all;
    planned_.plan.pieces = pieces;
    auto& order = planned_.plan.order;
    std::rotate(order.begin(), std::ranges::find(order, &solver),
                std::ranges::find(order, &solver) + 1);
  }

  Backend& backend_;
  const ConvProblem problem_;
  const ConvArgs args_;
  double least_ = std::numeric_limits<double>::infinity();
  Planned planned_;
};

using PlanKey = std::tuple<Backend*, int, ConvProblem>;

PlanKey plan_key(Backend& backend, const ConvProblem& problem) {
  return {&backend, backend.device().is_cpu() ? thread_count() : 0, problem};
}

struct Plans {
  std::mutex mutex;
  std::map<PlanKey, std::shared_ptr<const Planned>> all;
  ConvObserver observer;
};

Plans& plans() {
  static auto* one = new Plans;
  return *one;
}

/// The plan that is kept, if it still holds.
std::shared_ptr<const Planned> kept_plan(Backend& backend, const ConvProblem& problem) {
  const uint64_t available = backend.device().workspace().available();
  std::lock_guard lock(plans().mutex);
  const auto found = plans().all.find(plan_key(backend, problem));
  const bool holds = found != plans().all.end() && found->second->settled &&
                     found->second->generation == conv_generation() &&
                     found->second->available == available;
  return holds ? found->second : nullptr;
}

std::shared_ptr<const Planned> keep_plan(Backend& backend, const ConvProblem& problem,
                                         Planned planned) {
  std::lock_guard lock(plans().mutex);
  return plans().all[plan_key(backend, problem)] =
             std::make_shared<const Planned>(std::move(planned));
}

std::shared_ptr<const Planned> find_plan(Backend& backend, const ConvProblem& problem,
                                         const ConvArgs& args, bool& computed) {
  if (auto kept = kept_plan(backend, problem)) return kept;
  return keep_plan(backend, problem, Planner(backend, problem, args).make(computed));
}

/// The same where no tensors are needed for it, because nothing is left to be measured and the
/// fastest solver has room; else nullptr.
std::shared_ptr<const Planned> find_plan_unmeasured(Backend& backend, const ConvProblem& problem) {
  if (auto kept = kept_plan(backend, problem)) return kept;
  if (!convolution_known(backend, problem)) return nullptr;
  Planned planned;
  planned.generation = conv_generation();
  planned.available = backend.device().workspace().available();
  planned.settled = true;
  const bool measures = measures_convolution(problem);
  for (const ConvCandidate& candidate : conv_candidates(backend, problem)) {
    const bool first = planned.plan.order.empty();
    const bool untried = std::isinf(candidate.milliseconds) && measures;
    if (candidate.workspace > planned.available && (first || untried)) return nullptr;
    planned.plan.order.push_back(candidate.solver);
  }
  return keep_plan(backend, problem, std::move(planned));
}

void finish(Backend& backend, const ConvProblem& problem) {
  ConvObserver observer;
  {
    std::lock_guard lock(plans().mutex);
    observer = plans().observer;
  }
  if (observer) observer(backend, problem);
}

/// The solver's filter, where it was prepared for these weights before.
Workspace::Use prepare(Backend& backend, const ConvSolver& solver, const ConvProblem& problem,
                       const ConvArgs& args) {
  const uint64_t bytes = solver.prepared_bytes(problem);
  if (bytes == 0) return {};
  const int64_t variant = 4 * problem.groups + static_cast<int64_t>(problem.direction);
  return backend.device().workspace().keep(
      *args.filter, {&solver, variant, bytes},
      [&](Tensor& to) { solver.prepare(problem, *args.filter, to); });
}

/// Runs solvers in their order.
class Run {
 public:
  Run(Backend& backend, const ConvPlan& plan) : backend_(backend), order_(plan.order) {}

  void compute(const ConvProblem& problem, ConvArgs args) {
    no_room_.clear();
    for (const ConvSolver* solver : order_) {
      if (!solver->applicable(problem)) continue;
      Workspace::Use workspace;
      args.workspace = nullptr;
      if (const uint64_t bytes = solver->workspace_bytes(problem)) {
        workspace = backend_.device().workspace().use(bytes);
        if (!workspace.memory.defined()) {
          no_room_.push_back({bytes, solver});
          continue;
        }
        args.workspace = &workspace.memory;
      }
      if (attempt(*solver, problem, args)) return;
    }
    from_pool(problem, args);
  }

 private:
  /// Nothing runs without workspace: the least is taken as any tensor is.
  void from_pool(const ConvProblem& problem, ConvArgs args) {
    std::ranges::stable_sort(no_room_, {}, &std::pair<uint64_t, const ConvSolver*>::first);
    for (const auto& [bytes, solver] : no_room_) {
      Tensor workspace({static_cast<int64_t>(bytes)}, DType::u8, backend_.device());
      args.workspace = &workspace;
      if (attempt(*solver, problem, args)) return;
    }
    if (refused_) std::rethrow_exception(refused_);
    throw DeviceError(message("conv2d", "expected a solver for ", problem.str(), " on ",
                              backend_.device().name(), ", got none"));
  }

  /// False when the driver refuses a kernel, or a solver with a workspace finds no room for more
  /// than that.
  bool attempt(const ConvSolver& solver, const ConvProblem& problem, const ConvArgs& args) {
    const uint64_t queued = backend_.queued_kernels();
    const Tensor before = backup(solver, problem, args);
    const auto expect_nothing_added = [&](const Error& error) {
      if (args.beta == 0 || backend_.queued_kernels() == queued) return;
      if (!before.defined())
        throw DeviceError(std::string(error.what()) + "; part of a gradient was added already");
      copy(before, *args.filter);
    };
    try {
      const Workspace::Use prepared = prepare(backend_, solver, problem, args);
      ConvArgs all = args;
      if (prepared.memory.defined()) all.prepared = &prepared.memory;
      solver.run(problem, all);
      if (before.defined()) remember_run(solver, problem);
      return true;
    } catch (const OutOfMemory& error) {
      if (!args.workspace) throw;
      expect_nothing_added(error);
      refused_ = std::current_exception();
      return false;
    } catch (const KernelError& error) {
      expect_nothing_added(error);
      const std::string what =
          message("conv2d", backend_.device().name(), " refuses kernels of ", solver.name());
      log_warning_once(what, what + " (" + error.what() + ')');
      refused_ = std::current_exception();
      return false;
    }
  }

  /// What a solver's first run adds to: its kernels may be refused when some have run.
  Tensor backup(const ConvSolver& solver, const ConvProblem& problem, const ConvArgs& args) const {
    if (args.beta == 0 || backend_.device().is_cpu()) return {};
    {
      std::lock_guard lock(runs().mutex);
      if (runs().done.contains({&backend_, &solver, problem})) return {};
    }
    try {
      return args.filter->clone();
    } catch (const OutOfMemory&) {
      return {};
    }
  }

  void remember_run(const ConvSolver& solver, const ConvProblem& problem) const {
    std::lock_guard lock(runs().mutex);
    runs().done.insert({&backend_, &solver, problem});
  }

  struct Runs {
    std::mutex mutex;
    std::set<std::tuple<const Backend*, const ConvSolver*, ConvProblem>> done;
  };
  static Runs& runs() {
    static auto* one = new Runs;
    return *one;
  }

  Backend& backend_;
  const std::vector<const ConvSolver*>& order_;
  std::vector<std::pair<uint64_t, const ConvSolver*>> no_room_;
  std::exception_ptr refused_;
};

}  // namespace

void run_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  bool computed = false;
  const auto planned = find_plan(backend, problem, args, computed);
  for (uint64_t bytes : planned->wanted) backend.device().workspace().register_size(bytes);
  const int64_t pieces = computed ? 0 : planned->plan.pieces;
  Run run(backend, planned->plan);
  if (pieces == 1) run.compute(problem, args);
  for (int64_t i = 0; pieces > 1 && i < pieces; ++i) {
    const Piece piece(problem, args, i * problem.n / pieces, (i + 1) * problem.n / pieces);
    run.compute(piece.problem, piece.args);
  }
  finish(backend, problem);
}

bool run_pooled_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  const auto planned = find_plan_unmeasured(backend, problem);
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
    const Workspace::Use prepared = prepare(backend, **chosen, problem, args);
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
  std::lock_guard lock(plans().mutex);
  plans().observer = std::move(observer);
}

}  // namespace kaiseki
