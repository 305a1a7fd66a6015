// SPDX-License-Identifier: MIT
// A temporary folder of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace kaiseki::test {

/// The destructor deletes the folder and its contents.
struct Folder {
  Folder() {
    // mkdtemp() replaces the six letters X at the end. No two tests share a folder.
    std::string name =
        (std::filesystem::temp_directory_path() / ("kaiseki-" + std::string(6, 'X'))).string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path / name; }

  std::filesystem::path path;
};

}  // namespace kaiseki::test
