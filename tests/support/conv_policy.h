// SPDX-License-Identifier: MIT
// How convolutions are chosen during a test, and nothing known of them before and after.
#pragma once

#include "matrix/conv/tuning.h"

namespace kaiseki::test {

class WithConvPolicy {
 public:
  explicit WithConvPolicy(const ConvPolicy& policy) : before_(conv_policy()) {
    forget_convolutions();
    set_conv_policy(policy);
  }
  ~WithConvPolicy() {
    set_conv_policy(before_);
    forget_convolutions();
  }

 private:
  ConvPolicy before_;
};

}  // namespace kaiseki::test
