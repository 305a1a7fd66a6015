// SPDX-License-Identifier: MIT
// Layers that exchange channels among ranks. Networks of a ChannelSplit have them.
#pragma once

#include "dist/cluster/communicator.h"

namespace kaiseki::dist {

/// Networks that this thread builds while it exists can have these layers:
///   gather_channels  Joins the channels of all ranks, `units` in total. With `sum`, the gradients
///                    of the ranks are summed.
///   sum_gradients    Its output is its input. The gradients of the ranks are summed.
/// `set` must outlive the networks. All ranks must run the same passes.
class ChannelLayers {
 public:
  explicit ChannelLayers(Communicator& set);
  ~ChannelLayers();
  ChannelLayers(const ChannelLayers&) = delete;
  ChannelLayers& operator=(const ChannelLayers&) = delete;
};

}  // namespace kaiseki::dist
