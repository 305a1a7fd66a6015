// SPDX-License-Identifier: MIT
#include "dist/pool/secret.h"

#include <charconv>

#include "base/hex.h"
#include "dist/pool/crypto.h"

namespace kaiseki::dist {

Secret::Secret(Store& store, const std::function<void(std::span<std::byte>)>& random)
    : key_(store.setting("key")) {
  if (!key_.empty()) return;
  std::byte secret[32];
  random(secret);
  key_ = to_hex(secret);
  store.begin();
  store.set_setting("key", key_);
  store.commit(true);
}

std::string Secret::node_key(const NodeId& node) const {
  return hmac_sha256_hex(key_, "node " + node);
}

bool Secret::is_key_of(const NodeIdentity& identity) const {
  return equal_in_constant_time(node_key(identity.id), identity.key);
}

std::string Secret::sign(const NodeId& node, const Token& token) const {
  return sign_token(key_, node, token);
}

std::optional<Token> Secret::read(const NodeId& node, std::string_view text) const {
  return read_token(key_, node, text);
}

double Secret::draw(const NodeId& node, const Token& token) const {
  const std::string digits =
      hmac_sha256_hex(key_, "check " + node + " " + std::to_string(token.ticket) + " " +
                                std::to_string(token.epoch));
  uint32_t drawn = 0;
  std::from_chars(digits.data(), digits.data() + 8, drawn, 16);
  return drawn / 4294967296.0;
}

}  // namespace kaiseki::dist
