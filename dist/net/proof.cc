// SPDX-License-Identifier: MIT
#include "dist/net/proof.h"

#include <algorithm>

#include "base/json.h"
#include "dist/net/json_fields.h"
#include "dist/pool/crypto.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostTokens = 10;

constexpr std::string_view kMapped = "::ffff:";  // of an IPv4 address in IPv6

std::string proof_of(std::string_view token, const ServerEnd& end, std::string_view nonce) {
  const std::string& address = end.address;
  const bool is_mapped = address.starts_with(kMapped) && address.find('.') != address.npos;
  const std::string shown = is_mapped ? address.substr(kMapped.size()) : address;
  return hmac_sha256_hex(
      token, "kaiseki coordinator " + shown + " " + end.port + " " + std::string(nonce));
}

std::string random_nonce() {
  std::byte bytes[16];
  random_bytes(bytes);
  return to_hex(bytes);
}

}  // namespace

std::string format_proofs(const std::vector<std::string_view>& tokens, const ServerEnd& end,
                          std::string_view nonce) {
  Json proofs = Json::array(), answer = Json::object();
  for (std::string_view token : tokens)
    if (!token.empty()) proofs.items.emplace_back(proof_of(token, end, nonce));
  return format_json_line(answer.set("proofs", proofs));
}

ProofRequest::ProofRequest(const WireOptions& to)
    : token_(to.token), port_(to.url.port), nonce_(random_nonce()) {}

std::string ProofRequest::target() const { return std::string(kProofPath) + "?nonce=" + nonce_; }

bool ProofRequest::is_proven_by(std::string_view answer, const std::string& address) const {
  const std::string expected = proof_of(token_, {address, port_}, nonce_);
  return std::ranges::any_of(
      Fields(answer).texts("proofs", kMostTokens),
      [&](const std::string& proof) { return equal_in_constant_time(proof, expected); });
}

}  // namespace kaiseki::dist
