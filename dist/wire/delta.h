// SPDX-License-Identifier: MIT
// Deltas of messages: a message of 16-bit floats as the difference from an earlier message of the
// same layout (docs/protocol-tensors.md). After a training step most weights change by a few of
// their last bits, so a delta of weights has less than half of the bytes. It loses nothing.
#pragma once

#include <optional>

#include "base/bytes.h"

namespace kaiseki::dist {

/// Returns nullopt if the sizes differ, or if the delta saves less than an eighth of the bytes.
std::optional<ByteVector> encode_delta(ByteView base, ByteView message);

/// The message. Throws ParseError for bytes that encode_delta() does not write for this base. Any
/// other base of the same size gives another message, so check its hash.
ByteVector apply_delta(ByteView base, ByteView delta);

}  // namespace kaiseki::dist
