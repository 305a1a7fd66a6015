// SPDX-License-Identifier: MIT
#include "dist/cluster/channel_layers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "dist/cluster/collectives.h"
#include "nn/layer.h"
#include "nn/registry.h"

namespace kaiseki::dist {
namespace {

thread_local Communicator* building = nullptr;

/// [n, all channels, ...] in the order of ranks. The samples of the first rank's channels come
/// first, then those of the second rank's channels.
class RankOrder {
 public:
  RankOrder(const Communicator& set, int64_t units, const Shape& shape)
      : samples_(shape[0]), sample_(shape.elements() / std::max<int64_t>(1, shape[0])) {
    for (int rank = 0; rank < set.size(); ++rank) {
      const RankPart part = part_of_rank(units, rank, set.size());
      const int64_t elements = sample_ / units;
      channels_.push_back({part.first * elements, part.count * elements});
      parts_.push_back({samples_ * channels_.back().first, samples_ * channels_.back().count});
    }
  }

  /// The part of each rank, in elements.
  std::span<const RankPart> parts() const { return parts_; }
  std::vector<RankPart> parts_in_bytes() const {
    std::vector<RankPart> bytes;
    for (const RankPart& part : parts_) bytes.push_back({part.first * kFloat, part.count * kFloat});
    return bytes;
  }

  /// Calls `copy` for each row of memory. The arguments are the row's place in this order, its
  /// place in the tensor, and its length.
  template <class Copy>
  void each_row(const Copy& copy) const {
    for (size_t rank = 0; rank < parts_.size(); ++rank)
      for (int64_t i = 0; i < samples_; ++i)
        copy(parts_[rank].first + i * channels_[rank].count, i * sample_ + channels_[rank].first,
             channels_[rank].count);
  }

 private:
  static constexpr int64_t kFloat = sizeof(float);
  int64_t samples_, sample_;
  std::vector<RankPart> channels_, parts_;
};

class GatherChannels : public nn::Layer {
 public:
  explicit GatherChannels(Communicator& set) : set_(set) {}

  void settings(nn::Settings& settings) override {
    settings.integer("units", units_, {.required = true});
    settings.boolean("sum", sums_);
  }

  nn::LayerShape infer(std::span<const Shape> inputs) override {
    const int64_t own = part_of_rank(units_, set_.rank(), set_.size()).count;
    require(inputs.size() == 1 && inputs[0].rank() > 0 && own > 0 && inputs[0][0] % own == 0,
            "gather_channels", "expected an input with the channels of ", own, " units");
    Shape all = inputs[0];
    all[0] = all[0] / own * units_;
    return {.output = all};
  }

  Tensor forward(nn::ForwardPass& pass) const override {
    const Tensor own = pass.inputs[0].contiguous();
    Shape shape = own.shape();
    shape[1] = shape[1] / part_of_rank(units_, set_.rank(), set_.size()).count * units_;
    const RankOrder order(set_, units_, shape);
    std::vector<float> all(static_cast<size_t>(shape.elements()));
    std::copy_n(own.data<float>(), own.size(),
                all.begin() + order.parts()[static_cast<size_t>(set_.rank())].first);
    all_gather(set_, std::as_writable_bytes(std::span(all)), order.parts_in_bytes());
    Tensor y(shape, DType::f32, Device::cpu());
    auto* to = y.overwrite<float>();
    order.each_row([&](int64_t from, int64_t at, int64_t count) {
      std::copy_n(all.begin() + from, count, to + at);
    });
    return y.to(own.device());
  }

  void backward(nn::BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    const Tensor dy = pass.grad_output.contiguous();
    const RankOrder order(set_, units_, dy.shape());
    const RankPart own = order.parts()[static_cast<size_t>(set_.rank())];
    std::vector<float> all(static_cast<size_t>(dy.size()));
    const auto* from = dy.data<float>();
    order.each_row([&](int64_t to, int64_t at, int64_t count) {
      std::copy_n(from + at, count, all.begin() + to);
    });
    if (sums_) reduce_scatter(set_, all, order.parts());
    pass.grad_inputs[0] =
        Tensor::from(std::span<const float>(all).subspan(static_cast<size_t>(own.first),
                                                         static_cast<size_t>(own.count)),
                     pass.shapes[0], dy.device());
  }

  /// The ranks would not agree on parts of a minibatch.
  bool couples_samples(nn::Phase) const override { return set_.size() > 1; }

 private:
  Communicator& set_;
  int64_t units_ = 0;
  bool sums_ = false;
};

class SumGradients : public nn::Layer {
 public:
  explicit SumGradients(Communicator& set) : set_(set) {}

  nn::LayerShape infer(std::span<const Shape> inputs) override {
    require(inputs.size() == 1, "sum_gradients", "expected one input, got ", inputs.size());
    return {.output = inputs[0]};
  }
  Tensor forward(nn::ForwardPass& pass) const override { return pass.inputs[0]; }
  void backward(nn::BackwardPass& pass) const override {
    if (!pass.needs_gradient[0]) return;
    Tensor sum = pass.grad_output.contiguous();
    if (!pass.may_overwrite) sum = sum.clone();
    all_reduce(set_, {sum.mutable_data<float>(), static_cast<size_t>(sum.size())});
    pass.grad_inputs[0] = sum;
  }
  bool is_view(nn::Phase) const override { return true; }

 private:
  Communicator& set_;
};

template <class Made>
std::unique_ptr<nn::Layer> make() {
  if (!building)
    throw Error(message("cluster",
                        "expected a network of ChannelSplit, got another with one of its layers"));
  return std::make_unique<Made>(*building);
}

void register_layers() {
  static const bool registered = [] {
    nn::register_layer("gather_channels", make<GatherChannels>);
    nn::register_layer("sum_gradients", make<SumGradients>);
    return true;
  }();
  static_cast<void>(registered);
}

}  // namespace

ChannelLayers::ChannelLayers(Communicator& set) {
  register_layers();
  building = &set;
}

ChannelLayers::~ChannelLayers() { building = nullptr; }

}  // namespace kaiseki::dist
