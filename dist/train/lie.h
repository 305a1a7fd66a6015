// SPDX-License-Identifier: MIT
// Wrong results of hostile nodes, for tests and for the benchmark of attacks.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace kaiseki::dist {

enum class Lie : uint8_t {
  none,
  sign_flipped,
  scaled,         // times Attack::factor
  drifted,        // plus Attack::factor times the norm, in a direction common to all liars
  label_flipped,  // computed for other labels, if the ticket has labels
  wrong_shape,
  wrong_type,
  not_finite,
  replayed,  // the node's previous result
  noise,
  oversized,
};

struct Attack {
  Lie lie = Lie::none;
  double factor = 1;
  int64_t honest_until = 0;  // honest results before the first lie
  int64_t every = 1;         // after that, each `every`th result is a lie

  bool lies(int64_t answered) const {
    return lie != Lie::none && answered >= honest_until && (answered - honest_until) % every == 0;
  }
};

/// The ticket with labels exchanged in pairs: 0 with 1, 2 with 3. Unchanged if it has no labels.
ByteVector with_flipped_labels(ByteView ticket);

/// Returns the lie for an honest result. For label_flipped, `result` is the result of the ticket
/// that with_flipped_labels() returned, and only then `ticket` is used. `last`: the node's previous
/// honest result, or empty. `answered`: the number of earlier results of the node.
ByteVector lie_about(const Attack& attack, ByteVector result, ByteView ticket,
                     const ByteVector& last, int64_t answered);

}  // namespace kaiseki::dist
