// SPDX-License-Identifier: MIT
#include "dist/cluster/hybrid_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/json.h"
#include "dist/cluster/channel_layers.h"
#include "dist/cluster/channel_rewriting.h"
#include "dist/cluster/collectives.h"
#include "dist/cluster/gradient_exchange.h"
#include "matrix/ceil_div.h"
#include "nn/network.h"

namespace kaiseki::dist {
namespace {

/// The backward pass has two products for one of the forward pass.
constexpr double kBackward = 2;
/// Plain momentum reads weights, gradients and velocity, and writes two of them.
constexpr double kUpdateBytes = 5 * sizeof(float);
constexpr double kBucket = 4 << 20;  // bytes of gradients in one message (ExchangeOptions)

/// The last rank of a set, which has the most channels. It sends nothing, because only the shapes
/// of its network are needed.
class PlannedSet : public Communicator {
 public:
  explicit PlannedSet(int size) : size_(size) {}
  int rank() const override { return size_ - 1; }
  int size() const override { return size_; }
  std::string host(int) const override { return "planned"; }
  std::unique_ptr<Transfer> send(int, ByteView) override { return no_message(); }
  std::unique_ptr<Transfer> receive(int, std::span<std::byte>) override { return no_message(); }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }
  void cancel() noexcept override {}

 private:
  static std::unique_ptr<Transfer> no_message() {
    throw RankFailed(message("cluster", "a planned set has no messages"));
  }
  int size_;
};

class StepModel {
 public:
  StepModel(const ClusterRates& rates, int ranks_of_set, int64_t samples)
      : device_(rates.device),
        link_(rates.link),
        set_(ranks_of_set),
        sets_(rates.ranks / ranks_of_set),
        exchanges_factors_(rates.several_machines),
        minibatch_(samples),
        samples_(static_cast<double>(ceil_div(samples, int64_t{sets_}))) {}

  void add(const nn::LayerSpec& layer, const nn::LayerSummary& shape) {
    const double bytes = samples_ * static_cast<double>(shape.activation_bytes);
    if (layer.type == "gather_channels") {
      seconds_.channels += around_ring(bytes);
      seconds_.channels += layer.params.find("sum")->boolean ? around_ring(bytes) : copied(bytes);
      return;
    }
    if (layer.type == "sum_gradients") {
      seconds_.channels += 2 * around_ring(bytes);
      return;
    }
    parameters_ += static_cast<double>(shape.parameters);
    exchanged_ += static_cast<double>(shape.parameters);
    if (layer.type == "fully_connected") consider_factors(shape);
    const double forward =
        std::max(samples_ * static_cast<double>(shape.multiply_adds) / device_.multiply_adds,
                 2 * bytes / device_.bytes);
    seconds_.forward += forward;
    seconds_.backward += kBackward * forward;
  }

  HybridSeconds result() {
    seconds_.update = kUpdateBytes * parameters_ / device_.bytes;
    if (sets_ > 1) {
      const double bytes = sizeof(float) * exchanged_;
      const double messages = (sets_ - 1) * (2 * (1 + bytes / kBucket) + gathered_);
      seconds_.gradients = messages * link_.latency + (sets_ - 1) * (2 * bytes + factor_bytes_) /
                                                          sets_ / link_.bytes_per_second;
    }
    return seconds_;
  }

 private:
  /// With factors, each rank computes the gradient of the weights for the whole minibatch.
  void consider_factors(const nn::LayerSummary& shape) {
    const int64_t outputs = shape.output.elements(), inputs = shape.multiply_adds / outputs;
    if (!exchanges_factors_ || sets_ == 1 ||
        !exchanges_factors(minibatch_, inputs, outputs, sizeof(float)))
      return;
    const auto all = static_cast<double>(minibatch_);
    ++gathered_;
    exchanged_ -= static_cast<double>(shape.multiply_adds);
    factor_bytes_ += sizeof(float) * all * static_cast<double>(inputs + outputs);
    seconds_.backward +=
        (all - samples_) * static_cast<double>(shape.multiply_adds) / device_.multiply_adds;
  }

  /// Includes reading and writing memory before and after the messages.
  double around_ring(double bytes) const {
    const double others = set_ - 1;
    return others * link_.latency + others / set_ * bytes / link_.bytes_per_second +
           2 * copied(bytes);
  }
  double copied(double bytes) const { return 2 * bytes / device_.bytes; }

  const DeviceRates& device_;
  const RankLink& link_;
  int set_, sets_;
  bool exchanges_factors_;
  int64_t minibatch_;
  double samples_;                         // of a set
  double parameters_ = 0, exchanged_ = 0;  // of a rank, and those whose gradients are summed
  double factor_bytes_ = 0;                // of all sets
  int gathered_ = 0;                       // layers whose factors are exchanged
  HybridSeconds seconds_;
};

/// Adds and removes single layers while this saves time. One layer stays.
HybridPlan improve(HybridPlan plan, const std::vector<std::string>& layers,
                   const std::function<HybridSeconds(const std::set<std::string>&)>& predict) {
  plan.seconds = predict(plan.layers);
  for (bool better = true; better;) {
    better = false;
    for (const std::string& layer : layers) {
      std::set<std::string> other = plan.layers;
      if (other.erase(layer) == 0) other.insert(layer);
      if (other.empty()) continue;
      const HybridSeconds seconds = predict(other);
      if (seconds.all() >= plan.seconds.all()) continue;
      plan.layers = std::move(other);
      plan.seconds = seconds;
      better = true;
    }
  }
  return plan;
}

}  // namespace

ClusterRates measure_rates(Cluster& cluster, Device device) {
  ClusterRates rates{.ranks = cluster.size(),
                     .several_machines = cluster.is_on_several_machines(),
                     .device = device_rates(device)};
  if (cluster.size() == 1) return rates;
  rates.link = measure_link(cluster.ranks());
  std::vector<float> all(2 * static_cast<size_t>(cluster.size()));
  const auto own = 2 * static_cast<size_t>(cluster.rank());
  all[own] = static_cast<float>(rates.device.multiply_adds);
  all[own + 1] = static_cast<float>(rates.device.bytes);
  all_reduce(cluster.ranks(), all);
  rates.device = {.multiply_adds = all[0], .bytes = all[1]};
  for (size_t i = 2; i < all.size(); i += 2) {
    rates.device.multiply_adds = std::min(rates.device.multiply_adds, static_cast<double>(all[i]));
    rates.device.bytes = std::min(rates.device.bytes, static_cast<double>(all[i + 1]));
  }
  return rates;
}

HybridSeconds predict_step(const nn::NetworkSpec& network, int64_t samples,
                           const ClusterRates& rates, int ranks_of_set,
                           const std::set<std::string>& layers) {
  const DividedSpec divided = divide_channels(network, ranks_of_set - 1, ranks_of_set, layers);
  PlannedSet set(ranks_of_set);
  const ChannelLayers exchanges(set);
  std::map<std::string, nn::LayerSummary> shapes;
  for (nn::LayerSummary& layer : nn::summarize(divided.spec).layers)
    shapes[layer.name] = std::move(layer);
  StepModel model(rates, ranks_of_set, samples);
  for (const nn::LayerSpec& layer : divided.spec.layers) model.add(layer, shapes[layer.name]);
  return model.result();
}

HybridPlan plan_layers(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int ranks_of_set) {
  const auto predict = [&](const std::set<std::string>& layers) {
    return predict_step(network, samples, rates, ranks_of_set, layers);
  };
  HybridPlan best{.ranks_of_set = ranks_of_set};
  const std::vector<std::string> layers = divisible_layers(network, ranks_of_set);
  if (ranks_of_set == 1 || layers.empty()) {
    best.seconds = predict({});
    return best;
  }
  best.layers.insert(layers.begin(), layers.end());
  best = improve(std::move(best), layers, predict);
  HybridPlan single{.ranks_of_set = ranks_of_set};
  for (const std::string& layer : layers) {
    const HybridSeconds seconds = predict({layer});
    if (single.layers.empty() || seconds.all() < single.seconds.all())
      single = {ranks_of_set, {layer}, seconds};
  }
  single = improve(std::move(single), layers, predict);
  return single.seconds.all() < best.seconds.all() ? single : best;
}

HybridPlan plan_hybrid(const nn::NetworkSpec& network, int64_t samples, const ClusterRates& rates,
                       int least) {
  std::optional<HybridPlan> best;
  for (int size = least; size <= rates.ranks; ++size) {
    if (rates.ranks % size != 0) continue;
    HybridPlan plan = plan_layers(network, samples, rates, size);
    if (size > 1 && plan.layers.empty()) continue;
    if (!best || plan.seconds.all() < best->seconds.all()) best = std::move(plan);
  }
  if (!best)
    throw Error(message("cluster", "expected a layer with output channels for ", least,
                        " or more ranks, of ", rates.ranks, ", got a network without one"));
  return *best;
}

HybridPlan read_plan(std::string_view json, std::string_view source, const nn::NetworkSpec& network,
                     int64_t samples, const ClusterRates& rates) {
  const auto require = [&](bool holds, const char* place, const auto&... what) {
    if (!holds) throw ParseError(source, place, text_from(what...));
  };
  const Json plan = parse_json(json, source);
  require(plan.is(Json::Kind::object), "plan", "expected an object, got ", plan.describe());
  for (const std::string& key : plan.keys)
    require(key == "ranks_of_set" || key == "layers", "plan",
            "expected the keys \"ranks_of_set\" and \"layers\", got \"", key, '"');
  const Json* ranks = plan.find("ranks_of_set");
  require(ranks && ranks->is_integer() && ranks->number >= 1 && ranks->number <= rates.ranks &&
              rates.ranks % static_cast<int>(ranks->number) == 0,
          "ranks_of_set", "expected a divisor of the ", rates.ranks, " ranks, got ",
          ranks ? ranks->describe() : "no value");
  const Json* layers = plan.find("layers");
  require(layers && layers->is(Json::Kind::array), "layers", "expected a list of names, got ",
          layers ? layers->describe() : "no value");
  HybridPlan result{.ranks_of_set = static_cast<int>(ranks->number)};
  require((result.ranks_of_set == 1) == layers->items.empty(), "layers",
          "expected at least one in sets of two or more ranks, and none in sets of one");
  const std::vector<std::string> known = divisible_layers(network, result.ranks_of_set);
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  for (const Json& layer : layers->items) {
    require(layer.is(Json::Kind::string) && std::ranges::find(known, layer.string) != known.end(),
            "layers", "expected a layer that ", result.ranks_of_set, " ranks can divide, of ",
            names, ", got ", layer.describe());
    result.layers.insert(layer.string);
  }
  result.seconds = predict_step(network, samples, rates, result.ranks_of_set, result.layers);
  return result;
}

}  // namespace kaiseki::dist
