// SPDX-License-Identifier: MIT
// Trains a network on the ranks of mpirun:
//   mpirun -n 2 build/cluster/cluster models/lenet.json
#include <kaiseki.h>
#include <kaiseki/cluster.h>

#include <cstdio>
#include <exception>

using namespace kaiseki;

int train(dist::Cluster& cluster, const char* file) {
  nn::Network network = nn::Network::load(file, Device::automatic());
  nn::Iterator batches(nn::open_dataset({.spec = "digits:2000"}),
                       {.batch_size = 64, .share = cluster.share()});
  nn::Optimizer optimizer({.name = "momentum"});
  dist::ClusterUpdater updater(network, optimizer, batches, {.base = 0.01}, cluster);
  nn::Trainer(updater, {.epochs = 2}).run();

  const auto test =
      dist::evaluate_on(cluster, network, nn::open_dataset({.spec = "digits:500", .train = false}));
  if (cluster.rank() == 0) std::printf("%d ranks: %.1f %%\n", cluster.size(), 100 * test.top1);
  return test.top1 > 0.9 ? 0 : 1;
}

int main(int argc, char** argv) {
  dist::Cluster cluster;
  try {
    return train(cluster, argc > 1 ? argv[1] : "models/lenet.json");
  } catch (const std::exception& error) {
    cluster.fail(error);
  }
}
