// SPDX-License-Identifier: MIT
// An operand of an instruction on a block of elements.
#pragma once

namespace kaiseki::cpu {

/// `count` lanes, or one lane that applies to all elements. The result may overwrite an operand.
struct BlockOperand {
  const void* values = nullptr;
  bool scalar = false;
};

}  // namespace kaiseki::cpu
