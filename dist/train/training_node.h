// SPDX-License-Identifier: MIT
// TrainingNode: what a node of the pool does for training (MILJS paper, Algorithm 2, and its
// variants). No files, no sockets: it runs in a browser as it does natively.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "dist/train/ticket.h"
#include "nn/network.h"

namespace kaiseki::dist {

/// Results are encode_tensors() of, in this order, where the ticket wants them: "loss" [1],
/// "output" [n, ...], gradients under the names of their parameters, states under theirs. The text
/// "ticket" is the SHA-256 of the ticket.
class TrainingNode {
 public:
  static constexpr uint64_t kCacheBytes = uint64_t{512} << 20;

  /// `cache_bytes`: of blobs that are kept for the tickets to come.
  explicit TrainingNode(Device device = default_device(), uint64_t cache_bytes = kCacheBytes);

  /// The blobs that run() needs and that are not here.
  std::vector<std::string> missing(ByteView ticket) const;
  /// Throws Error when the hash is not that of the bytes.
  void add_blob(const std::string& hash, ByteVector bytes);
  /// Throws ParseError for a ticket or a blob that is not well formed, Error for a missing blob and
  /// for weights or samples that do not fit the network.
  ByteVector run(ByteView ticket);

  using Getter = std::function<ByteVector(const std::string& hash)>;
  /// The same, with what is missing.
  ByteVector run(ByteView ticket, const Getter& get);

 private:
  struct Pass {
    nn::Network network;
    std::string waits;  // whose backward pass its last forward pass waits for; empty: none's
  };
  struct Model {
    std::string json = {};
    uint64_t seed = 0;
    std::string weights = {};             // hash; empty: none yet
    std::vector<std::string> names = {};  // of the weights' tensors
    std::vector<Tensor> states = {};      // as they came with the weights
    std::list<Pass> passes = {};          // share their parameters; the newest pass first
  };

  Model& model_of(const Ticket& ticket);
  void load_weights(Model& model, const Ticket& ticket);
  Pass& add_pass(Model& model);
  Pass& begin(Model& model, const Ticket& ticket);
  Tensor samples_of(const Ticket& ticket);
  Tensor forward(Model& model, const Ticket& ticket);
  void backward(Model& model, const Ticket& ticket);
  void add_gradients(Model& model, const Ticket& ticket, std::vector<WireTensor>& to);
  const ByteVector& blob(const std::string& hash);

  struct Blob {
    ByteVector bytes;
    uint64_t used = 0;  // when it was last
  };
  Device device_;
  uint64_t cache_bytes_, cached_ = 0, clock_ = 0;
  std::map<std::string, Blob> blobs_;
  std::map<std::string, Model> models_;  // by the network's hash
};

}  // namespace kaiseki::dist
