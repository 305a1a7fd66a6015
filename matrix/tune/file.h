// SPDX-License-Identifier: MIT
// The tuning file: the measurements of this machine as JSON lines in cache_dir/tuning.jsonl. Each
// line is one candidate of one case:
//   {"device":"...","driver":"...","version":"0.1.0","threads":2,"operation":"convolution",
//   "case":"forward n16c64h56w56k64r3s3p1","candidate":"winograd4x4_3x3","milliseconds":9.5,
//   "workspace":589888}
// A candidate that fails has "outcome":"wrong" or "refused" instead of a time. Processes share the
// file. It is written under another name and renamed, so a reader never sees a partial file.
// Unreadable lines are skipped, so a damaged file only costs measurements.
#pragma once

#include <filesystem>
#include <vector>

#include "matrix/tune/key.h"
#include "matrix/tune/result.h"

namespace kaiseki {

/// Returns the results for this case in the order in which they were stored. Empty if there are
/// none for this version of the library.
std::vector<TuningResult> recall_tuning(const TuningKey& key);

/// The path of the tuning file.
std::filesystem::path tuning_file();

/// Stores these results, in place of earlier results for the same candidates of this case.
/// Processes take turns. Returns false if the file cannot be written; the measurements then last
/// only for this process.
bool remember_tuning(const TuningKey& key, const std::vector<TuningResult>& results);

}  // namespace kaiseki
