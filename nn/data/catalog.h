// SPDX-License-Identifier: MIT
// Data sets known by name, with the URLs and checksums of their files.
#pragma once

#include <cstdint>
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
  std::vector<std::string> mirrors;  // URLs that end with '/', in the order of attempts
  std::vector<RemoteFile> files;
};

/// "mnist", "fashion-mnist", "cifar10"; null for other names.
const RemoteSet* find_remote_set(std::string_view name);

/// Downloads a file to `destination` from the first of `urls` that works, and checks it. Throws
/// Error.
using Fetch = std::function<void(const RemoteFile& file, std::span<const std::string> urls,
                                 const std::string& destination)>;

/// Returns the folder (or archive) of a set known by name. Looks in KAISEKI_DATA, then in the
/// cache, then downloads it into the cache. Throws Error with the folders searched and a remedy.
std::string locate_set(const RemoteSet& set, const Fetch& fetch);

}  // namespace kaiseki::nn
