// SPDX-License-Identifier: MIT
#include "cli/cluster_training.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "dist/cluster/mpi.h"
#include "matrix/device.h"
#include "matrix/threads.h"

namespace kaiseki::cli {
namespace {

/// Stops this rank at the step after which all others stop.
class StopTogether final : public nn::Extension {
 public:
  explicit StopTogether(const dist::ClusterUpdater& updater) : updater_(updater) {}
  void on_step(nn::Trainer& trainer) override {
    if (!updater_.stopped()) return;
    interrupt();
    trainer.stop("interrupted");
  }

 private:
  const dist::ClusterUpdater& updater_;
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

int ranks_on_host(dist::Communicator& ranks) {
  int count = 0;
  for (int other = 0; other < ranks.size(); ++other)
    count += ranks.host(other) == ranks.host(ranks.rank());
  return count;
}

/// The GPUs of a machine go to its ranks in turn. Its cores are divided, unless mpirun has given
/// each rank some of them.
void choose_device(DeviceOptions& options, dist::Cluster& cluster) {
  const int here = ranks_on_host(cluster.ranks());
  const std::string wanted = options.device.empty() ? environment().device : options.device;
  if (wanted.empty() || wanted == "auto") {
    std::vector<DeviceInfo> gpus = list_devices();
    std::erase_if(gpus, [](const DeviceInfo& one) { return !one.is_gpu; });
    if (!gpus.empty())
      options.device =
          gpus[static_cast<size_t>(cluster.rank_on_host()) % gpus.size()].device.name();
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  if (options.threads == 0 && thread_count() == cores) options.threads = std::max(1, cores / here);
}

}  // namespace

ClusterTraining::ClusterTraining(const TrainCommand& command) : command_(checked(command)) {
  choose_device(command_.device, cluster_);
  if (leads()) return;
  command_.save.clear();
  command_.log.clear();
  command_.trace.clear();
  command_.memory = false;
  if (!std::freopen("/dev/null", "w", stdout)) throw Error("cannot write to /dev/null");
}

std::unique_ptr<nn::Updater> ClusterTraining::make_updater(nn::Network& network,
                                                           nn::Optimizer& optimizer,
                                                           nn::Iterator& iterator,
                                                           const nn::Schedule& schedule) {
  dist::ClusterTrainingOptions how;
  how.stop = interrupted;
  how.sync_batch_norm = command_.sync_batch_norm;
  if (command_.cluster_wire == "f16") how.exchange.wire = dist::ClusterWire::f16;
  auto updater =
      std::make_unique<dist::ClusterUpdater>(network, optimizer, iterator, schedule, cluster_, how);
  updater_ = updater.get();
  return updater;
}

void ClusterTraining::extend(nn::Trainer& trainer) {
  trainer.extend(std::make_unique<StopTogether>(*updater_));
}

std::unique_ptr<nn::Extension> ClusterTraining::make_evaluator(
    std::shared_ptr<const nn::Dataset> test, const nn::EvaluateOptions& how, int64_t every) {
  return std::make_unique<dist::ClusterEvaluator>(cluster_, std::move(test), how, every);
}

int ClusterTraining::run(const std::function<int()>& train) {
  try {
    return train();
  } catch (const std::exception& error) {
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

std::string ClusterTraining::summary() const {
  const dist::GradientExchange::Seconds seconds = updater_->exchange_seconds();
  const double hidden =
      seconds.exchanging > 0 ? std::max(0.0, 1 - seconds.waiting / seconds.exchanging) : 1;
  return "gradients: " + format_duration(seconds.exchanging) + " on their way, " +
         format_percent(hidden, 0) + " of it beside the backward pass";
}

}  // namespace kaiseki::cli
