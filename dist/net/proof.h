// SPDX-License-Identifier: MIT
// Proofs: over plain HTTP a coordinator shows that it knows a token before a client sends the
// token (docs/protocol.md). So another program that listens on the port does not get it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "dist/net/wire.h"

namespace kaiseki::dist {

inline constexpr std::string_view kProofPath = "/proof";
inline constexpr size_t kMostProofBytes = 4096;  // of an answer

/// The server's side of a connection.
struct ServerEnd {
  std::string address;  // such as "127.0.0.1" or "::1"
  std::string port;
};

/// The coordinator's answer: for each of its tokens a proof for this nonce.
std::string format_proofs(const std::vector<std::string_view>& tokens, const ServerEnd& end,
                          std::string_view nonce);

/// A client's request for proofs. Each has a random nonce, so earlier answers are not valid.
class ProofRequest {
 public:
  explicit ProofRequest(const WireOptions& to);

  /// Whether a token is set that would go over plain HTTP.
  static bool is_needed(const WireOptions& to) { return !to.token.empty() && !to.url.tls; }
  /// Path and query.
  std::string target() const;
  /// Whether the answer proves the token. `address` is the one that the client is connected to. The
  /// proof names it and the port. So a program on another address or port cannot pass the question
  /// on. Throws ParseError if this is no answer of a coordinator.
  bool is_proven_by(std::string_view answer, const std::string& address) const;

 private:
  const std::string token_, port_, nonce_;
};

}  // namespace kaiseki::dist
