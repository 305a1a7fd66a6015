// SPDX-License-Identifier: MIT
// Deltas of messages. The first half of the bytes is the base. The second half is tried as a
// message and as a delta.
#include <algorithm>

#include "dist/wire/delta.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;
using namespace kaiseki::dist;

KAISEKI_FUZZ(bytes) {
  const ByteView base = bytes.subspan(0, bytes.size() / 2), rest = bytes.subspan(base.size());
  if (const auto delta = encode_delta(base, rest))
    if (const ByteVector again = apply_delta(base, *delta);
        !std::equal(again.begin(), again.end(), rest.begin(), rest.end()))
      __builtin_trap();
  apply_delta(base, rest);
}
