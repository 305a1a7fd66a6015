// SPDX-License-Identifier: MIT
#include "matrix/conv/run_plan.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "matrix/conv/added_once.h"

namespace kaiseki::conv {
namespace {

/// Runs solvers in the plan's order.
class PlanRunner {
 public:
  PlanRunner(Backend& backend, const ConvPlan& plan) : backend_(backend), order_(plan.order) {}

  void compute(const ConvProblem& problem, ConvArgs args) {
    for (const ConvSolver* solver : order_) {
      if (!solver->applicable(problem)) continue;
      Workspace::HeldBlock workspace;
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
    run_with_allocated_workspace(problem, args);
  }

 private:
  /// Called if no solver has room in the workspace. Allocates the smallest workspace like a tensor.
  void run_with_allocated_workspace(const ConvProblem& problem, ConvArgs args) {
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

  /// Returns false if the driver refuses a kernel. Also returns false if a solver with a workspace
  /// has no room for other memory.
  bool attempt(const ConvSolver& solver, const ConvProblem& problem, const ConvArgs& args) {
    // A solver's first run needs a copy, because the driver may refuse a kernel after others have
    // run.
    const AddedOnce added(backend_, args, args.beta != 0 && !ran(solver, problem));
    try {
      const Workspace::HeldBlock prepared = prepare(backend_, solver, problem, args);
      ConvArgs all = args;
      if (prepared.memory.defined()) all.prepared = &prepared.memory;
      solver.run(problem, all);
      if (added.has_copy()) remember_run(solver, problem);
      return true;
    } catch (const OutOfMemory& error) {
      if (!args.workspace) throw;
      added.undo(error);
      refused_ = std::current_exception();
      return false;
    } catch (const KernelError& error) {
      added.undo(error);
      const std::string what =
          message("conv2d", backend_.device().name(), " refuses kernels of ", solver.name());
      log_warning_once(what, what + " (" + error.what() + ')');
      refused_ = std::current_exception();
      return false;
    }
  }

  bool ran(const ConvSolver& solver, const ConvProblem& problem) const {
    std::lock_guard lock(runs().mutex);
    return runs().done.contains({&backend_, &solver, problem});
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

Workspace::HeldBlock prepare(Backend& backend, const ConvSolver& solver, const ConvProblem& problem,
                             const ConvArgs& args) {
  const uint64_t bytes = solver.prepared_bytes(problem);
  if (bytes == 0) return {};
  const int64_t variant = 4 * problem.groups + static_cast<int64_t>(problem.direction);
  return backend.device().workspace().use_derived(
      *args.filter, {&solver, variant, bytes},
      [&](Tensor& to) { solver.prepare(problem, *args.filter, to); });
}

void run_plan(Backend& backend, const ConvPlan& plan, const ConvProblem& problem,
              const ConvArgs& args) {
  PlanRunner(backend, plan).compute(problem, args);
}

}  // namespace kaiseki::conv
