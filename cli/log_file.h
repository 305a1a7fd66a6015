// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.h"

namespace kaiseki::cli {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using LogFile = std::unique_ptr<std::FILE, CloseFile>;

/// Opens the file that an option names, to add lines at its end. Returns null for no name. Throws
/// Error, which names the option.
inline LogFile open_log(const std::string& option, const std::string& name) {
  if (name.empty()) return nullptr;
  LogFile file(std::fopen(name.c_str(), "a"));
  if (!file) throw Error(option + ": cannot write " + name + ": " + std::strerror(errno));
  return file;
}

}  // namespace kaiseki::cli
