// SPDX-License-Identifier: MIT
// The tuning file of the package: none. It stands in the place of matrix/tuning_file.cc, which the
// linker then leaves out with all that it needs of files.
#include "matrix/tuning_file.h"

namespace kaiseki {

std::vector<TuningResult> recall_tuning(const TuningKey&) { return {}; }

std::filesystem::path tuning_file() { return {}; }

bool remember_tuning(const TuningKey&, const std::vector<TuningResult>&) { return true; }

}  // namespace kaiseki
