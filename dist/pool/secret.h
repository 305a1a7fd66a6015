// SPDX-License-Identifier: MIT
// Secret: the pool's key. It signs lease tokens, derives the nodes' keys and selects the results
// that are checked.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "dist/pool/store.h"
#include "dist/pool/token.h"

namespace kaiseki::dist {

class Secret {
 public:
  /// Reads the key from the store. If there is none, fills it from `random` and stores it.
  Secret(Store& store, const std::function<void(std::span<std::byte>)>& random);

  /// The key that a node proves its identity with. It is derived, so the store holds no secret of a
  /// node.
  std::string node_key(const NodeId& node) const;
  bool is_key_of(const NodeIdentity& identity) const;
  std::string sign(const NodeId& node, const Token& token) const;
  /// Returns nullopt if the token was not signed for this node.
  std::optional<Token> read(const NodeId& node, std::string_view text) const;
  /// A number in [0, 1) that depends on the lease only. Nodes cannot foresee it.
  double draw(const NodeId& node, const Token& token) const;

 private:
  std::string key_;
};

}  // namespace kaiseki::dist
