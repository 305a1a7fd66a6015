// SPDX-License-Identifier: MIT
// A folder of a test's own, removed with everything in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace kaiseki::test {

struct Folder {
  Folder() {
    // mkdtemp() asks for six letters X at the end, and replaces them: no two tests share a folder.
    std::string name =
        (std::filesystem::temp_directory_path() / ("kaiseki-" + std::string(6, 'X'))).string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
};

}  // namespace kaiseki::test
