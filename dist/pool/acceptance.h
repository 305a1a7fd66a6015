// SPDX-License-Identifier: MIT
// Acceptance: checks a result, counts it for its ticket, and updates the node's measured speed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dist/pool/blobs.h"
#include "dist/pool/lifecycle.h"
#include "dist/pool/secret.h"
#include "dist/pool/timing.h"

namespace kaiseki::dist {

class Acceptance {
 public:
  Acceptance(const PoolParts& parts, BlobStore& blobs, const Secret& secret, Lifecycle& lifecycle,
             const Timing& timing)
      : on_(parts), blobs_(blobs), secret_(secret), lifecycle_(lifecycle), timing_(timing) {}

  Answer count(Outcome outcome, std::string_view counter, std::string reason = {});
  /// Returns the refusal if the node is expelled or the token is not the node's, else nullopt.
  std::optional<Answer> refusal(const PoolNode& node, const std::optional<Token>& token);
  /// The answer to a result of a ticket that is not open.
  Answer ended(TicketId ticket);

  /// Whether the result has to be computed again before it counts.
  bool has_to_check(const PoolTicket& ticket, const PoolNode& node, const Token& token) const;
  /// Computes it again: PoolOptions::verify.
  bool is_right(const PoolTicket& ticket, ByteView result) const;

  /// Whether the result confirms an earlier vote of the node, and now counts.
  bool confirms_vote(const PoolTicket& ticket, const PoolNode& node, ByteView result) const;

  // Within a transaction.
  /// Ends the node's lease. The result counts, or is a vote.
  Answer accept(PoolTicket& ticket, PoolNode& node, const Token& token, ByteView result,
                bool checked);
  Answer refuse_size(PoolTicket& ticket, const NodeId& node, size_t bytes);
  /// Expels the node.
  Answer refuse_wrong(const PoolTicket& ticket, PoolNode& node);

 private:
  double now() const { return on_.options.clock(); }
  /// Returns the seconds that the node took.
  double learn_pace(const PoolTicket& ticket, PoolNode& node, const Token& token);
  /// Whether the result counts without a vote of another node.
  bool counts_alone(const PoolTicket& ticket, const PoolNode& node, const Token& token) const;
  Answer compare(PoolTicket& ticket, PoolNode& node, const Token& token, ByteView result);
  void judge(const VoteRow& vote, const std::string& hash);
  Answer finish(PoolTicket& ticket, const PoolNode& node, ByteView result, bool checked);

  const PoolParts on_;
  BlobStore& blobs_;
  const Secret& secret_;
  Lifecycle& lifecycle_;
  const Timing& timing_;
};

}  // namespace kaiseki::dist
