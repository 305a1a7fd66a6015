// SPDX-License-Identifier: MIT
// Data sets known by name: where their files are found, and how they are checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

struct RemoteFile {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;  // lower-case hexadecimal
};

struct RemoteSet {
  std::string name;                  // "mnist"
  std::vector<std::string> mirrors;  // each a URL that ends with '/', in the order to try
  std::vector<RemoteFile> files;
};

/// "mnist", "fashion-mnist", "cifar10"; null for other names.
const RemoteSet* find_remote_set(std::string_view name);

/// Brings one file to `destination` from the first of `urls` that works, and checks it. Throws
/// Error.
using Fetch = std::function<void(const RemoteFile& file, std::span<const std::string> urls,
                                 const std::filesystem::path& destination)>;

/// The folder (or archive) of a set known by name: under KAISEKI_DATA, else in the cache, else
/// fetched into the cache. Throws Error that says where it looked and what to do.
std::filesystem::path locate_set(const RemoteSet& set, const Fetch& fetch);

}  // namespace kaiseki::nn
