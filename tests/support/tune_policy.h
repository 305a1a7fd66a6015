// SPDX-License-Identifier: MIT
// Sets the tuner's policy during a test. No measurements are known before and after it.
#pragma once

#include "matrix/tune/policy.h"

namespace kaiseki::test {

class WithTunePolicy {
 public:
  explicit WithTunePolicy(const TunePolicy& policy) : before_(tune_policy()) {
    forget_measurements();
    set_tune_policy(policy);
  }
  ~WithTunePolicy() {
    set_tune_policy(before_);
    forget_measurements();
  }

 private:
  TunePolicy before_;
};

}  // namespace kaiseki::test
