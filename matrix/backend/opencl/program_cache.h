// SPDX-License-Identifier: MIT
// Built programs of one device: in memory, and on disk for platforms that have no cache themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/backend/opencl/platform.h"

namespace kaiseki::opencl {

/// What a program's text is: a file of cl_kernels by name, a text that we generate, or a user's
/// own. common.cl goes before the first two.
enum class Source : uint8_t { file, generated, user };

/// The text of a file of cl_kernels, by name; empty when there is none.
std::string_view embedded_kernel(std::string_view file);
/// The names of all of them.
std::vector<std::string_view> embedded_kernel_files();

class ProgramCache {
 public:
  /// On disk under cache_dir/opencl unless the platform keeps programs itself. The context outlives
  /// the cache.
  ProgramCache(const DeviceFacts& facts, std::string label, cl_context context);
  ~ProgramCache();
  ProgramCache(const ProgramCache&) = delete;

  /// Throws DeviceError with the first lines of the build log; the whole log goes to a file.
  cl_program get(std::string_view program, Source kind, const std::string& options);

  /// For tests: keeps binaries on disk whatever the platform does, up to this many bytes.
  void keep_on_disk(uint64_t limit);
  uint64_t disk_hits() const { return disk_hits_; }
  uint64_t builds() const { return builds_; }

 private:
  cl_program build(const std::string& source, const std::string& options);
  cl_program load(const std::filesystem::path& file, const std::string& options);
  void store(const std::filesystem::path& file, cl_program program);
  void compile(cl_program program, const std::string& source, const std::string& options);
  std::filesystem::path file_for(const std::string& source, const std::string& options) const;

  DeviceFacts facts_;
  std::string label_;
  cl_context context_;
  std::filesystem::path folder_;
  bool on_disk_;
  uint64_t limit_ = uint64_t{64} << 20;
  uint64_t disk_hits_ = 0, builds_ = 0;
  std::map<std::string, cl_program> programs_;
};

}  // namespace kaiseki::opencl
