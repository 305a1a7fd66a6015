// SPDX-License-Identifier: MIT
// The package has neither a tuning file nor shipped tuning results. These functions replace
// matrix/tune/file.cc and matrix/tune/shipped.cc, so that the linker leaves out both.
#include "matrix/tune/shipped.h"

namespace kaiseki {

std::vector<TuningResult> recall_tuning(const TuningKey&) { return {}; }

std::vector<TuningResult> shipped_tuning(const TuningKey&) { return {}; }

std::filesystem::path tuning_file() { return {}; }

bool remember_tuning(const TuningKey&, const std::vector<TuningResult>&) { return true; }

}  // namespace kaiseki
