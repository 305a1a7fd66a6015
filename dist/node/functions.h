// SPDX-License-Identifier: MIT
// The native functions of a node by name. TaskSpec::function selects one.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "dist/pool/types.h"

namespace kaiseki::dist {

/// The blobs and callbacks for a function. Several threads call them at once.
struct TicketContext {
  std::vector<BlobHash> blobs;                       // the ticket's blobs
  std::function<ByteVector(const BlobHash&)> fetch;  // reads and checks a blob; throws Error
  uint64_t memory_bytes = UINT64_MAX;                // that the ticket may take
  std::function<bool()> cancelled;  // the result is no longer needed: the function may throw
};

/// Computes a ticket's result from its input. If it throws, the coordinator gets the message and
/// issues the ticket to another node. If it takes longer than NodeOptions::ticket_seconds, it is
/// abandoned. It may then run until the process ends, and still use its captured objects.
using NodeFunction = std::function<ByteVector(ByteView input, const TicketContext& context)>;
using NodeFunctions = std::map<std::string, NodeFunction>;

}  // namespace kaiseki::dist
