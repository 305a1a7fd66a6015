// SPDX-License-Identifier: MIT
// Downloads of data sets over HTTP: resumed where they stopped, checked, from several mirrors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "nn/data/catalogue.h"

namespace kaiseki::cli {

/// Bytes that are there, and bytes in all. Called often, and once at the end.
using DownloadProgress = std::function<void(const std::string& name, uint64_t done, uint64_t all)>;

/// Brings `file` to `destination` from the first URL that has it with the right size and SHA-256.
/// What came so far stays in "destination.part", and the next try continues there. Throws Error
/// with what each URL answered.
void download_file(const nn::RemoteFile& file, std::span<const std::string> urls,
                   const std::filesystem::path& destination, const DownloadProgress& progress);

/// The same with a line of progress on a terminal's standard error.
void download(const nn::RemoteFile& file, std::span<const std::string> urls,
              const std::filesystem::path& destination);

}  // namespace kaiseki::cli
