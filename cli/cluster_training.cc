// SPDX-License-Identifier: MIT
#include "cli/cluster_training.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "dist/cluster/agreement.h"
#include "dist/cluster/collectives.h"
#include "dist/cluster/mpi.h"
#include "matrix/device.h"
#include "matrix/threads.h"

namespace kaiseki::cli {
namespace {

constexpr std::chrono::seconds kPatienceForLeader{2};

/// Stops this rank at the step after which all others stop.
class StopTogether final : public nn::Extension {
 public:
  explicit StopTogether(std::function<bool()> stopped) : stopped_(std::move(stopped)) {}
  void on_step(nn::Trainer& trainer) override {
    if (!stopped_()) return;
    interrupt();
    trainer.stop("interrupted");
  }

 private:
  const std::function<bool()> stopped_;
};

void expect_no(bool given, const std::string& option) {
  if (given) throw Error("--cluster: expected no " + option + ", which needs one machine");
}

/// Before MPI starts, so that an error does not end it.
const TrainCommand& checked(const TrainCommand& command) {
  expect_no(!command.pool.where.empty(), "--pool");
  expect_no(command.accumulate > 1, "--accumulate");
  expect_no(command.batch_size.starts_with("auto"), "--batch-size auto");
  return command;
}

/// A number for the cores that this process may use.
float number_of_cores_used() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  uint32_t hash = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) hash = hash * 31 + static_cast<uint32_t>(core) + 1;
  return static_cast<float>(hash % 65521);
}

/// The ranks of this machine that may use the same cores as this one, with itself.
int ranks_on_cores(dist::Cluster& cluster) {
  dist::Communicator& ranks = cluster.ranks();
  std::vector<float> cores(static_cast<size_t>(ranks.size()));
  cores[static_cast<size_t>(ranks.rank())] = number_of_cores_used();
  dist::all_reduce(ranks, cores);
  int count = 0;
  for (int other = 0; other < ranks.size(); ++other)
    count += ranks.host(other) == ranks.host(ranks.rank()) &&
             cores[static_cast<size_t>(other)] == cores[static_cast<size_t>(ranks.rank())];
  return count;
}

std::string milliseconds(double seconds) {
  return format_number(seconds < 0.1 ? "%.3g" : "%.0f", 1e3 * seconds);
}

/// The GPUs of a machine go to its ranks in turn. Ranks with the same cores divide them.
void choose_device(DeviceOptions& options, dist::Cluster& cluster) {
  const std::string wanted = options.device.empty() ? environment().device : options.device;
  if (wanted.empty() || wanted == "auto") {
    std::vector<DeviceInfo> gpus = list_devices();
    std::erase_if(gpus, [](const DeviceInfo& one) { return !one.is_gpu; });
    if (!gpus.empty())
      options.device =
          gpus[static_cast<size_t>(cluster.rank_on_host()) % gpus.size()].device.name();
  }
  const int ranks = ranks_on_cores(cluster);
  if (options.threads == 0 && environment().threads == 0)
    options.threads = std::max(1, thread_count() / ranks);
}

}  // namespace

ClusterTraining::ClusterTraining(const TrainCommand& command) : command_(checked(command)) {}

/// Rank 0 shows the same warnings.
void ClusterTraining::prepare() {
  choose_device(command_.device, cluster_);
  if (leads()) return;
  command_.save.clear();
  command_.log.clear();
  command_.trace.clear();
  command_.memory = false;
  set_log_sink({});
  if (!std::freopen("/dev/null", "w", stdout)) throw Error("cannot write to /dev/null");
}

void ClusterTraining::choose_plan(const nn::Network& network, const nn::Recipe& recipe) {
  if (command_.cluster == "data") return;
  const bool reads = command_.cluster.ends_with(".json");
  const std::string file(reads ? as_text(read_file(command_.cluster)) : "");
  const bool must = reads || command_.cluster == "hybrid";
  if (must && cluster_.size() == 1)
    throw Error("--cluster " + command_.cluster +
                ": expected two or more ranks, got 1. Start kaiseki with mpirun -n");
  const bool can =
      nn::optimizer_of(recipe).clip_norm == 0 && dist::can_divide_channels(network.device());
  const std::array<dist::SharedFact, 4> facts = {{
      {"samples in a minibatch", static_cast<double>(*recipe.batch_size)},
      {"layers", dist::fact_of(network.json())},
      {"devices that can divide layers", can ? 1.0 : 0.0},
      {"plans", dist::fact_of(file)},
  }};
  dist::expect_agreement(cluster_, facts);
  if (must && !can)
    throw Error(
        "--cluster " + command_.cluster +
        ": expected the CPU, no KAISEKI_DEVICE_MEMORY, and no clip_norm by --clip-norm or by the "
        "network's recipe");
  if (!can || cluster_.size() == 1) return;
  const dist::ClusterRates rates = dist::measure_rates(cluster_, network.device());
  const nn::NetworkSpec& spec = network.spec();
  const int64_t samples = *recipe.batch_size;
  undivided_seconds_ = dist::plan_layers(spec, samples, rates, 1).seconds.all();
  plan_ = reads ? dist::read_plan(file, command_.cluster, spec, samples, rates)
                : dist::plan_hybrid(spec, samples, rates, must ? 2 : 1);
  if (plan_.ranks_of_set > 1) sets_.emplace(cluster_, plan_.ranks_of_set, plan_.layers);
}

std::unique_ptr<nn::Updater> ClusterTraining::make_updater(nn::Network& network,
                                                           nn::Optimizer& optimizer,
                                                           nn::Iterator& iterator,
                                                           const nn::Schedule& schedule) {
  dist::ClusterTrainingOptions how;
  how.stop = interrupted;
  how.sync_batch_norm = command_.sync_batch_norm;
  if (command_.cluster_wire == "f16") how.exchange.wire = dist::ClusterWire::f16;
  const auto watched = [&](auto updater) -> std::unique_ptr<nn::Updater> {
    stopped_ = [of = updater.get()] { return of->stopped(); };
    exchange_seconds_ = [of = updater.get()] { return of->exchange_seconds(); };
    return updater;
  };
  if (sets_)
    return watched(
        std::make_unique<dist::HybridUpdater>(network, optimizer, iterator, schedule, *sets_, how));
  return watched(std::make_unique<dist::ClusterUpdater>(network, optimizer, iterator, schedule,
                                                        cluster_, how));
}

void ClusterTraining::extend(nn::Trainer& trainer) {
  trainer.extend(std::make_unique<StopTogether>(stopped_));
}

std::unique_ptr<nn::Extension> ClusterTraining::make_evaluator(
    std::shared_ptr<const nn::Dataset> test, const nn::EvaluateOptions& how, int64_t every) {
  return std::make_unique<dist::ClusterEvaluator>(cluster_, std::move(test), how, every);
}

int ClusterTraining::run(const std::function<int()>& train) {
  try {
    prepare();
    return train();
  } catch (const std::exception& error) {
    // If rank 0 has the same error, it reports it and ends this rank.
    release_interrupts();  // so that the end of the job ends this rank at once
    if (!leads()) std::this_thread::sleep_for(kPatienceForLeader);
    clear_live_line();
    std::fprintf(stderr, "kaiseki: %s: %s\n", printable(cluster_.name()).c_str(),
                 printable(error.what()).c_str());
    dist::end_all_ranks(1);
  }
}

std::string ClusterTraining::where() {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < cluster_.size(); ++rank) {
    const std::string host = cluster_.ranks().host(rank);
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  constexpr size_t kShown = 4;
  const size_t more = hosts.size() - std::min(hosts.size(), kShown);
  hosts.resize(hosts.size() - more);
  std::string text = format_count(cluster_.size()) + (cluster_.size() == 1 ? " rank" : " ranks") +
                     " on " + printable(join(hosts, ", "));
  if (more > 0) text += " and " + std::to_string(more) + " more machines";
  return text;
}

std::string ClusterTraining::plan() const {
  if (undivided_seconds_ == 0) return "each rank computes whole layers";
  std::string text = "no layer is divided";
  if (sets_) {
    constexpr size_t kShown = 6;
    std::vector<std::string> layers(plan_.layers.begin(), plan_.layers.end());
    const size_t more = layers.size() - std::min(layers.size(), kShown);
    text = "sets of " + std::to_string(plan_.ranks_of_set) + " ranks divide " +
           std::to_string(layers.size()) + (layers.size() == 1 ? " layer" : " layers");
    layers.resize(layers.size() - more);
    text += ": " + printable(join(layers, ", "));
    if (more > 0) text += " and " + std::to_string(more) + " more";
  }
  return text + "; predicted " + milliseconds(plan_.seconds.all()) + " ms a step, " +
         milliseconds(undivided_seconds_) + " ms with whole layers";
}

std::string ClusterTraining::summary() const {
  const dist::GradientExchange::Seconds seconds = exchange_seconds_();
  if (share().parts == 1 || seconds.exchanging == 0) return "no gradients were exchanged";
  const double hidden = std::max(0.0, 1 - seconds.waiting / seconds.exchanging);
  return "gradients: exchanged in " + format_number("%.3g", seconds.exchanging) + " s, " +
         format_percent(hidden, 0) + " of it beside the backward pass";
}

}  // namespace kaiseki::cli
