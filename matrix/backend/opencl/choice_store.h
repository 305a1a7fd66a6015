// SPDX-License-Identifier: MIT
// What was measured to be fastest on a device, kept as JSON lines in
// cache_dir/opencl/choices.jsonl:
// {"device":"...","driver":"...","operation":"gemm","case":"nn m9 n9 k9 b0","choice":"packed 6x64",
// "gflops":120.5}. Later lines win; lines that cannot be read are left out.
#pragma once

#include <string>
#include <string_view>

#include "matrix/backend/opencl/platform.h"

namespace kaiseki::opencl {

/// The choice, or "" when there is none for this device and driver.
std::string recall_choice(const DeviceFacts& facts, std::string_view operation,
                          std::string_view which);

/// Writes the file anew under another name and moves it into place. A file that cannot be written
/// is no error: the choice then lasts for this process.
void remember_choice(const DeviceFacts& facts, std::string_view operation, std::string_view which,
                     std::string_view choice, double gflops);

}  // namespace kaiseki::opencl
