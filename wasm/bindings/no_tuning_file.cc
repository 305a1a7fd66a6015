// SPDX-License-Identifier: MIT
// The tuning file of the package, and what is shipped with it: none. It stands in the place of
// matrix/tuning_file.cc and matrix/conv/shipped.cc, which the linker then leaves out with all that
// they need.
#include "matrix/conv/shipped.h"

namespace kaiseki {

std::vector<TuningResult> recall_tuning(const TuningKey&) { return {}; }

std::vector<TuningResult> shipped_tuning(const TuningKey&) { return {}; }

std::filesystem::path tuning_file() { return {}; }

bool remember_tuning(const TuningKey&, const std::vector<TuningResult>&) { return true; }

}  // namespace kaiseki
