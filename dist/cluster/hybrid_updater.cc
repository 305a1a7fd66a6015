// SPDX-License-Identifier: MIT
#include "dist/cluster/hybrid_updater.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "dist/cluster/agreement.h"
#include "dist/cluster/collectives.h"

namespace kaiseki::dist {
namespace {

int checked_size(const Cluster& cluster, int ranks_of_set) {
  if (ranks_of_set < 1 || cluster.size() % ranks_of_set != 0)
    throw Error(message("cluster", "expected sets of a size that divides the ", cluster.size(),
                        " ranks, got ", ranks_of_set));
  return ranks_of_set;
}

}  // namespace

RankSets::RankSets(Cluster& all, int ranks_of_set, LayerChoice divided)
    : cluster(all),
      layers(std::move(divided)),
      set(all.ranks().split(all.rank() / checked_size(all, ranks_of_set), all.rank())),
      places(all.ranks().split(all.rank() % ranks_of_set, all.rank())) {}

HybridUpdater::HybridUpdater(nn::Network& network, nn::Optimizer& optimizer, nn::Iterator& iterator,
                             const nn::Schedule& schedule, RankSets& sets,
                             const ClusterTrainingOptions& options)
    : Updater(network, optimizer, iterator, schedule),
      schedule_(schedule),
      sets_(sets),
      options_(options),
      part_optimizer_(optimizer.options()) {
  if (iterator.share() != sets.share())
    throw Error(message("cluster", "expected an iterator with the share of the set, got share ",
                        iterator.share().index, " of ", iterator.share().parts));
  if (optimizer.options().clip_norm > 0)
    throw Error(message("cluster",
                        "expected an optimizer without clip_norm: a rank with a part of "
                        "the channels does not know the norm of all gradients"));
}

void HybridUpdater::share_weights() {
  const auto share = [&](Tensor tensor) {
    broadcast(sets_.cluster.ranks(),
              std::as_writable_bytes(
                  std::span(tensor.mutable_data<float>(), static_cast<size_t>(tensor.size()))));
  };
  for (nn::Parameter& one : network().parameters()) share(one.value);
  for (nn::State& one : network().states()) share(one.value);
  for (const nn::State& one : optimizer().states(network().parameters())) share(one.value);
}

/// The inner updater compares only the ranks with the same part. This compares all ranks.
void HybridUpdater::expect_agreement() {
  std::string layers = sets_.layers ? "some" : "all";
  if (sets_.layers)
    for (const std::string& layer : *sets_.layers) layers += '\n' + layer;
  std::vector<SharedFact> facts = facts_of(*this);
  facts.push_back({"ranks of a set", static_cast<double>(sets_.set->size())});
  facts.push_back({"divided layers", fact_of(layers)});
  dist::expect_agreement(sets_.cluster, facts);
}

/// Called at the first step. The weights of a checkpoint are loaded then.
void HybridUpdater::begin() {
  expect_agreement();
  share_weights();
  split_ = std::make_unique<ChannelSplit>(network(), *sets_.set, sets_.layers);
  split_->divide(network(), optimizer(), part_optimizer_);
  ClusterTrainingOptions how = options_;
  // A wish to stop reaches all ranks of the set. Each of them passes it on to the other sets.
  how.stop = [this] {
    float stops = options_.stop && options_.stop() ? 1.0f : 0.0f;
    all_reduce(*sets_.set, {&stops, 1});
    return stops > 0;
  };
  inner_ = std::make_unique<ClusterUpdater>(split_->network(), part_optimizer_, iterator(),
                                            schedule_, sets_.places, how);
}

HybridUpdater::Result HybridUpdater::update() {
  expect_restored();
  if (!inner_) begin();
  inner_->scale_learning_rate(learning_rate_scale());
  const Result result = inner_->update();
  optimizer().set_steps(part_optimizer_.steps());
  if (iterator().is_new_epoch() || inner_->stopped()) {
    split_->join(network());
    split_->join(network(), optimizer(), part_optimizer_);
    share_weights();
    split_->divide(network());
    split_->divide(network(), optimizer(), part_optimizer_);
  }
  return result;
}

}  // namespace kaiseki::dist
