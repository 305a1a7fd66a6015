// SPDX-License-Identifier: MIT
// Deltas of messages (docs/protocol-tensors.md): a message of 16-bit floats as the difference from
// an earlier message. A training step changes only the last bits of most weights. A delta therefore
// has less than half of the bytes. It loses nothing.
#pragma once

#include <optional>

#include "base/bytes.h"

namespace kaiseki::dist {

/// Returns nullopt if the sizes differ, or if the delta saves less than an eighth of the bytes.
std::optional<ByteVector> encode_delta(ByteView base, ByteView message);

/// Returns the message. Throws ParseError for bytes that encode_delta() does not write for this
/// base. Another base of the same size may give another message, so check the hash of the result.
ByteVector apply_delta(ByteView base, ByteView delta);

}  // namespace kaiseki::dist
