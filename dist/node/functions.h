// SPDX-License-Identifier: MIT
// Native functions that nodes have, by name: what a task's `function` asks for.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "dist/pool/types.h"

namespace kaiseki::dist {

/// What a function may use besides its input. Called from several threads at once.
struct TicketContext {
  std::vector<BlobHash> blobs;                       // of the ticket
  std::function<ByteVector(const BlobHash&)> fetch;  // a blob's bytes, checked; throws Error
  std::function<bool()> cancelled;  // nobody needs the result any more: who looks may throw
};

/// From a ticket's input to its result. What it throws is told to the coordinator: the ticket goes
/// to another node.
using NodeFunction = std::function<ByteVector(ByteView input, const TicketContext& context)>;
using NodeFunctions = std::map<std::string, NodeFunction>;

}  // namespace kaiseki::dist
