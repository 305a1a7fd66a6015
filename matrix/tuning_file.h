// SPDX-License-Identifier: MIT
// What was measured on this machine, kept as JSON lines in cache_dir/tuning.jsonl, one for each
// candidate of each case:
// {"device":"...","driver":"...","version":"0.1.0","threads":2,"operation":"convolution",
// "case":"forward n16c64h56w56k64r3s3p1","candidate":"winograd4x4_3x3","milliseconds":9.5,
// "workspace":589888}
// The file is shared by processes and written anew under another name: a reader sees the whole of
// the old one or of the new one. Lines that cannot be read are left out, so a damaged file costs
// measurements and nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki {

struct TuningKey {
  std::string device, driver;  // names; a result of another device or driver is not ours
  int threads = 0;             // or cores of a CPU's OpenCL device; 0 where they do not matter
  std::string operation, which;
};

struct TuningResult {
  std::string candidate;
  double milliseconds = 0;
  uint64_t workspace = 0;  // bytes
  bool operator==(const TuningResult&) const = default;
};

/// The results for this case, in the order in which they were remembered; empty when there are none
/// of this version of the library.
std::vector<TuningResult> recall_tuning(const TuningKey& key);

/// Where they are kept.
std::filesystem::path tuning_file();

/// Puts these results in the place of those that the case had for the same candidates. Processes
/// take turns. False where the file cannot be written: what was measured then lasts for this
/// process.
bool remember_tuning(const TuningKey& key, const std::vector<TuningResult>& results);

}  // namespace kaiseki
