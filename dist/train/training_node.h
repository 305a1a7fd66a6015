// SPDX-License-Identifier: MIT
// TrainingNode: computes training tickets on a node (MILJS paper, Algorithm 2, and variants). It
// uses no files and no sockets, so it also runs in a browser.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "dist/train/ticket.h"
#include "dist/train/training_memory.h"
#include "dist/wire/blob_cache.h"
#include "nn/network.h"
#include "nn/network_spec.h"

namespace kaiseki::dist {

/// A result is encode_tensors() of the tensors that the ticket requests. Their order is "loss" [1],
/// "output" [n, ...], gradients by parameter name, states by name. The text "ticket" is the SHA-256
/// of the ticket.
class TrainingNode {
 public:
  static constexpr uint64_t kCacheBytes = uint64_t{512} << 20;

  /// `cache_bytes`: the most bytes of blobs that it keeps for later tickets.
  explicit TrainingNode(Device device = default_device(), uint64_t cache_bytes = kCacheBytes);

  /// The hashes of blobs that run() needs and that are missing.
  std::vector<std::string> missing(ByteView ticket) const;
  /// Throws Error if the bytes have another hash.
  void add_blob(const std::string& hash, ByteVector bytes);
  /// Throws ParseError if the ticket or a blob is malformed. Throws Error if a blob is missing, or
  /// if weights or samples do not match the network.
  /// Throws Error, before it builds a network, if the ticket would need more than `memory_bytes`.
  ByteVector run(ByteView ticket, uint64_t memory_bytes = UINT64_MAX);

  using Getter = std::function<ByteVector(const std::string& hash)>;
  /// Gets the missing blobs first.
  ByteVector run(ByteView ticket, const Getter& get, uint64_t memory_bytes = UINT64_MAX);

 private:
  struct Pass {
    nn::Network network;
    std::string
        forward_key;  // key_of() the forward pass that awaits its backward pass; empty: none
  };
  struct NodeModel {
    nn::NetworkSpec spec;
    TrainingMemory memory;
    int64_t samples = 1;  // the most of a pass so far
    uint64_t seed = 0;
    std::string weights = {};             // hash; empty: none yet
    std::vector<std::string> names = {};  // of the weights' tensors
    std::vector<Tensor> states = {};      // as the weights blob has them
    std::list<Pass> passes = {};          // they share parameters; the newest pass is first
  };

  void expect_fits(const TrainingMemory& memory, int64_t samples) const;
  void expect_blob_fits(uint64_t bytes, uint64_t times) const;
  void make_room_for(const NodeModel& model);
  NodeModel& model_of(const TrainingTicket& ticket);
  void load_weights(NodeModel& model, const TrainingTicket& ticket);
  bool has_base(const TrainingTicket& ticket) const;
  void apply_delta_of(const TrainingTicket& ticket);
  Pass& add_pass(NodeModel& model);
  Pass& begin(NodeModel& model, const TrainingTicket& ticket);
  Tensor samples_of(NodeModel& model, const TrainingTicket& ticket);
  Tensor forward(NodeModel& model, const TrainingTicket& ticket);
  void backward(NodeModel& model, const TrainingTicket& ticket);
  void add_gradients(NodeModel& model, const TrainingTicket& ticket, std::vector<WireTensor>& to);
  const ByteVector& blob(const std::string& hash);

  Device device_;
  uint64_t memory_bytes_ = UINT64_MAX;  // of the ticket that runs
  BlobCache blobs_;
  std::map<std::string, NodeModel> models_;  // by the network's hash
};

}  // namespace kaiseki::dist
