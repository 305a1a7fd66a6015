// SPDX-License-Identifier: MIT
#include "matrix/conv/select.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "matrix/conv/measure.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using Order = std::vector<const ConvSolver*>;

/// What is known of convolutions, by backend, threads and problem.
struct Known {
  std::mutex mutex;
  std::map<std::tuple<Backend*, int, ConvProblem>, Order> orders;
};

Known& known() {
  static auto* all = new Known;
  return *all;
}

TuneConvolutions* tuner = nullptr;  // the one that lives

/// The backend's order, unless there is a measurement of each: a part of them says nothing of the
/// others.
Order make_order(Backend& backend, const ConvProblem& problem,
                 const std::vector<TuningResult>& measured) {
  std::vector<std::pair<double, const ConvSolver*>> solvers;
  bool all = true;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem)) continue;
    const auto found = std::ranges::find(measured, solver->name(), &TuningResult::candidate);
    all = all && found != measured.end();
    solvers.emplace_back(found == measured.end() ? 0 : found->milliseconds, solver);
  }
  if (all) {
    std::ranges::stable_sort(solvers, {}, &std::pair<double, const ConvSolver*>::first);
    std::erase_if(solvers, [](const auto& one) { return one.first >= kWrongMilliseconds; });
  }
  Order order;
  for (const auto& [milliseconds, solver] : solvers) order.push_back(solver);
  return order;
}

int threads_of(Backend& backend) { return backend.device().is_cpu() ? thread_count() : 0; }

void set_order(Backend& backend, const ConvProblem& problem, Order order) {
  std::lock_guard lock(known().mutex);
  known().orders[{&backend, threads_of(backend), problem}] = std::move(order);
}

}  // namespace

std::string_view direction_name(ConvDirection direction) {
  constexpr std::string_view kNames[] = {"forward", "backward_data", "backward_filter"};
  return kNames[static_cast<int>(direction)];
}

TuningKey convolution_key(Backend& backend, const ConvProblem& problem) {
  const DeviceInfo info = backend.info();
  return {info.name, backend.device().is_cpu() ? info.platform : info.driver, threads_of(backend),
          "convolution", std::string(direction_name(problem.direction)) + ' ' + problem.str()};
}

std::vector<const ConvSolver*> solver_order(Backend& backend, const ConvProblem& problem) {
  {
    std::lock_guard lock(known().mutex);
    const auto found = known().orders.find({&backend, threads_of(backend), problem});
    if (found != known().orders.end()) return found->second;
  }
  Order order = make_order(backend, problem, recall_tuning(convolution_key(backend, problem)));
  set_order(backend, problem, order);
  return order;
}

void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args) {
  if (tuner) tuner->before(backend, problem, args);
  std::exception_ptr no_room, refused;
  for (const ConvSolver* solver : solver_order(backend, problem)) {
    Tensor workspace;
    args.workspace = nullptr;
    if (const uint64_t bytes = solver->workspace_bytes(problem)) try {
        workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, backend.device());
        args.workspace = &workspace;
      } catch (const OutOfMemory&) {
        if (!no_room) no_room = std::current_exception();
        continue;
      }
    const uint64_t queued = backend.queued_kernels();
    try {
      return solver->run(problem, args);
    } catch (const KernelError& error) {
      if (args.beta != 0 && backend.queued_kernels() != queued)
        throw DeviceError(std::string(error.what()) + "; part of a gradient was added already");
      const std::string what =
          message("conv2d", backend.device().name(), " refuses kernels of ", solver->name());
      log_warning_once(what, what + " (" + error.what() + ')');
      refused = std::current_exception();
    }
  }
  if (refused) std::rethrow_exception(refused);
  if (no_room) std::rethrow_exception(no_room);
  throw DeviceError(message("conv2d", "expected a solver for ", problem.str(), " on ",
                            backend.device().name(), ", got none"));
}

TuneConvolutions::TuneConvolutions(ConvReport report) : report_(std::move(report)) { tuner = this; }

TuneConvolutions::~TuneConvolutions() { tuner = nullptr; }

void TuneConvolutions::before(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  const std::pair key{&backend, problem};
  auto found = results_.find(key);
  if (found == results_.end()) {
    found = results_.emplace(key, measure_convolution(backend, problem, args)).first;
    if (found->second.empty()) {
      log_warning_once(message("tune", "no room to measure ", problem.str(), " on ",
                               backend.device().name(), ": it stays as it was"));
    } else {
      kept_ = remember_tuning(convolution_key(backend, problem), found->second) && kept_;
      set_order(backend, problem, make_order(backend, problem, found->second));
    }
  }
  report_(problem, found->second);
}

void forget_solver_orders() {
  std::lock_guard lock(known().mutex);
  known().orders.clear();
}

}  // namespace kaiseki
