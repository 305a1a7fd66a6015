// SPDX-License-Identifier: MIT
#include "dist/pool/token.h"

#include <charconv>

#include "dist/pool/crypto.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMaxToken = 3 * 20 + 3 + 64;

std::string mac_of(std::string_view key, const NodeId& node, std::string_view fields) {
  return hmac_sha256_hex(key, "lease " + node + " " + std::string(fields));
}

/// Reads a number up to the next dot and removes both from `text`.
bool take_number(std::string_view& text, int64_t& value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop == end || *stop != '.') return false;
  text.remove_prefix(static_cast<size_t>(stop - text.data()) + 1);
  return true;
}

}  // namespace

std::string sign_token(std::string_view key, const NodeId& node, const Token& token) {
  const std::string fields = std::to_string(token.ticket) + '.' + std::to_string(token.epoch) +
                             '.' + std::to_string(token.expiry);
  return fields + '.' + mac_of(key, node, fields);
}

std::optional<Token> read_token(std::string_view key, const NodeId& node, std::string_view text) {
  if (text.size() > kMaxToken) return std::nullopt;
  Token token;
  std::string_view rest = text;
  if (!take_number(rest, token.ticket) || !take_number(rest, token.epoch) ||
      !take_number(rest, token.expiry))
    return std::nullopt;
  const std::string_view fields = text.substr(0, text.size() - rest.size() - 1);
  if (!equal_in_constant_time(mac_of(key, node, fields), rest)) return std::nullopt;
  return token;
}

}  // namespace kaiseki::dist
