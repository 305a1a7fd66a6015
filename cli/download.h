// SPDX-License-Identifier: MIT
// Downloads of data sets over HTTP. They try several mirrors, resume, and check size and SHA-256.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "nn/data/catalog.h"

namespace kaiseki::cli {

/// Gets the received and the total number of bytes. Called often, and once at the end.
using DownloadProgress = std::function<void(const std::string& name, uint64_t done, uint64_t all)>;

/// Downloads `file` to `destination` from the first URL that has it with the right size and
/// SHA-256. Keeps a partial download in "destination.part" and resumes it at the next call. Throws
/// Error with the answers of all URLs.
void download_file(const nn::RemoteFile& file, std::span<const std::string> urls,
                   const std::filesystem::path& destination, const DownloadProgress& progress);

/// Downloads and shows the progress on standard error.
void download(const nn::RemoteFile& file, std::span<const std::string> urls,
              const std::filesystem::path& destination);

}  // namespace kaiseki::cli
