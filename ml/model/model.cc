// SPDX-License-Identifier: MIT
#include "ml/model/model.h"

namespace kaiseki::ml {

std::string_view use_name(Use use) {
  constexpr std::string_view kNames[] = {"predict", "predict_proba", "decision_function",
                                         "transform", "score_samples"};
  return kNames[static_cast<size_t>(use)];
}

}  // namespace kaiseki::ml
