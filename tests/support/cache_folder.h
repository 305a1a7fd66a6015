// SPDX-License-Identifier: MIT
// A separate cache folder for a test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace kaiseki::test {

/// A cache folder that is empty at first and deleted at the end.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              ("kaiseki_test_" + name + std::to_string(getpid()))) {
    if (const char* old = std::getenv("KAISEKI_CACHE_DIR")) old_ = old;
    std::filesystem::remove_all(path_);
    setenv("KAISEKI_CACHE_DIR", path_.c_str(), 1);
  }
  ~CacheFolder() {
    std::filesystem::remove_all(path_);
    if (old_.empty())
      unsetenv("KAISEKI_CACHE_DIR");
    else
      setenv("KAISEKI_CACHE_DIR", old_.c_str(), 1);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string old_;
};

}  // namespace kaiseki::test
