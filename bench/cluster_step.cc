// SPDX-License-Identifier: MIT
// The speed of data-parallel training, started by mpirun or alone. Rank 0 prints one JSON line.
//   cluster_step NETWORK BATCH SECONDS [threads] [overlap|plain|hybrid] [f32|f16] [factors]
// `plain` adds the gradients by MPI_Allreduce after the backward pass, one call for each.
// `hybrid`: sets of two or more ranks divide layers, as planned.
// `factors`: ranks exchange the factors of gradients, as on several machines.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "bench/random_pictures.h"
#include "dist/cluster/cluster_updater.h"
#include "dist/cluster/hybrid_plan.h"
#include "dist/cluster/hybrid_updater.h"
#include "matrix/threads.h"

namespace kaiseki::bench {
namespace {

class PlainUpdater : public nn::Updater {
 public:
  using Updater::Updater;
  Result update() override {
    const double rate = learning_rate();
    const int64_t samples = samples_of_step();
    network().zero_grad();
    const nn::Batch& batch = next_batch();
    const auto run = network().forward_loss(batch.inputs(network().device()), batch.labels);
    network().backward(static_cast<double>(batch.labels.dim(0)) / static_cast<double>(samples));
    for (Tensor& gradient : network().gradients().values)
      MPI_Allreduce(MPI_IN_PLACE, gradient.mutable_data<float>(), static_cast<int>(gradient.size()),
                    MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    optimizer().step(network().parameters(), network().gradients(), rate);
    return {run.loss, run.output, batch.labels};
  }
};

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "cluster_step: expected NETWORK BATCH SECONDS\n");
    return 1;
  }
  const auto given = [&](const std::string& word) {
    return std::any_of(argv + 4, argv + argc, [&](const char* one) { return one == word; });
  };
  const std::string name = argv[1];
  const int64_t size = std::stoll(argv[2]);
  const double seconds = std::stod(argv[3]);
  if (argc > 4) set_thread_count(std::stoi(argv[4]));
  dist::Cluster cluster;
  nn::Network network = nn::Network::load("models/" + name + ".json", Device::cpu());
  network.initialize(0);
  const auto pictures = std::make_shared<RandomPictures>(
      100 * size, network.input_shape(), static_cast<int>(network.output_shape()[0]));
  nn::Optimizer optimizer;
  dist::HybridPlan plan;
  std::optional<dist::RankSets> sets;
  if (given("hybrid")) {
    plan =
        dist::plan_hybrid(network.spec(), size, dist::measure_rates(cluster, network.device()), 2);
    sets.emplace(cluster, plan.ranks_of_set, plan.layers);
  }
  nn::Iterator iterator(
      pictures,
      {.batch_size = size, .workers = 1, .share = sets ? sets->share() : cluster.share()});
  const nn::Schedule schedule{.base = 0.001};
  std::unique_ptr<nn::Updater> updater;
  dist::ClusterUpdater* ours = nullptr;
  if (given("plain")) {
    updater = std::make_unique<PlainUpdater>(network, optimizer, iterator, schedule);
  } else if (cluster.size() == 1) {
    updater = std::make_unique<nn::Updater>(network, optimizer, iterator, schedule);
  } else {
    dist::ClusterTrainingOptions how;
    if (given("f16")) how.exchange.wire = dist::ClusterWire::f16;
    if (given("factors")) how.exchange.factors = dist::FactorUse::if_smaller;
    if (sets) {
      updater =
          std::make_unique<dist::HybridUpdater>(network, optimizer, iterator, schedule, *sets, how);
    } else {
      auto made = std::make_unique<dist::ClusterUpdater>(network, optimizer, iterator, schedule,
                                                         cluster, how);
      ours = made.get();
      updater = std::move(made);
    }
  }
  const auto seconds_of = [&](int steps) {
    dist::barrier(cluster.ranks());
    const double begin = steady_seconds();
    for (int i = 0; i < steps; ++i) updater->update();
    dist::barrier(cluster.ranks());
    return steady_seconds() - begin;
  };
  seconds_of(3);  // measures solvers
  auto steps = static_cast<float>(seconds / seconds_of(2) * 2);
  dist::broadcast(cluster.ranks(), std::as_writable_bytes(std::span(&steps, 1)));
  const int count = std::max(1, static_cast<int>(steps));
  const dist::GradientExchange::Seconds before =
      ours ? ours->exchange_seconds() : dist::GradientExchange::Seconds{};
  const double step = seconds_of(count) / count;
  const dist::GradientExchange::Seconds after =
      ours ? ours->exchange_seconds() : dist::GradientExchange::Seconds{};
  if (cluster.rank() == 0)
    std::printf(
        "{\"images_per_second\": %.6g, \"predicted_images_per_second\": %.6g, "
        "\"divided_layers\": %zu, \"exchange_ms\": %.4g, \"waiting_ms\": %.4g}\n",
        static_cast<double>(size) / step, sets ? static_cast<double>(size) / plan.seconds.all() : 0,
        plan.layers.size(), 1e3 * (after.exchanging - before.exchanging) / count,
        1e3 * (after.waiting - before.waiting) / count);
  return 0;
}

}  // namespace
}  // namespace kaiseki::bench

int main(int argc, char** argv) { return kaiseki::bench::run(argc, argv); }
