// SPDX-License-Identifier: MIT
// Lease tokens: "ticket.epoch.expiry.mac". The keyed hash covers the node too, so another node
// cannot use the token.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dist/pool/types.h"

namespace kaiseki::dist {

struct Token {
  TicketId ticket = 0;
  int64_t epoch = 0;
  int64_t expiry = 0;  // seconds since 1970
};

std::string sign_token(std::string_view key, const NodeId& node, const Token& token);
/// Returns nothing unless the token was signed with this key for this node.
std::optional<Token> read_token(std::string_view key, const NodeId& node, std::string_view text);

}  // namespace kaiseki::dist
