// SPDX-License-Identifier: MIT
// Wrong results of hostile nodes.
#pragma once

#include <cstdint>

#include "dist/train/local_nodes.h"

namespace kaiseki::test {

enum class Lie : uint8_t {
  none,
  sign_flipped,
  scaled,         // times Attack::factor
  drifted,        // plus Attack::factor times the norm, in a direction common to all liars
  label_flipped,  // computed for other labels, if the ticket has labels
  wrong_shape,
  wrong_type,
  not_finite,
  replayed,  // the last result that was computed
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

/// A node that attacks. It counts its results from 0.
class Liar {
 public:
  explicit Liar(const Attack& attack) : attack_(attack) {}
  ByteVector operator()(ByteView ticket, const dist::LocalCompute& compute);

 private:
  ByteVector lie_about(ByteVector result, ByteView ticket, const ByteVector& last) const;

  Attack attack_;
  int64_t answered_ = 0;
  ByteVector last_;  // the last result that was computed
};

}  // namespace kaiseki::test
