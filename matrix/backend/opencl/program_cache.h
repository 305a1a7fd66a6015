// SPDX-License-Identifier: MIT
// Caches the built programs of one device in memory. If the platform has no cache, it also caches
// them on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/backend/opencl/platform.h"

namespace kaiseki::opencl {

/// The source of a program: files of cl_kernels ("a.cl+b.cl"), a text that the library generates,
/// or a user's text. common.cl is prepended to the first two.
enum class Source : uint8_t { file, generated, user };

/// Returns the text of a file of cl_kernels by name, or an empty text if there is none.
std::string_view embedded_kernel(std::string_view file);
/// Returns the names of all files of cl_kernels.
std::vector<std::string_view> embedded_kernel_files();

class ProgramCache {
 public:
  /// Uses the disk (cache_dir/opencl), unless the platform has its own cache. The context must
  /// outlive the cache.
  ProgramCache(const OpenclDeviceProperties& facts, std::string label, cl_context context);
  ~ProgramCache();
  ProgramCache(const ProgramCache&) = delete;

  /// Throws DeviceError with the first lines of the build log. The whole log is written to a file.
  cl_program get(std::string_view program, Source kind, const std::string& options);

  /// For tests: keeps binaries on disk on every platform, up to this many bytes.
  void keep_on_disk(uint64_t limit);
  /// For tests: counts of programs that came from the disk, and that were compiled.
  uint64_t disk_hits() const { return disk_hits_; }
  uint64_t builds() const { return builds_; }

 private:
  cl_program build(const std::string& source, const std::string& options);
  cl_program load(const std::filesystem::path& file, const std::string& options);
  void store(const std::filesystem::path& file, cl_program program);
  void compile(cl_program program, const std::string& source, const std::string& options);
  std::filesystem::path file_for(const std::string& source, const std::string& options) const;

  OpenclDeviceProperties facts_;
  std::string label_;
  cl_context context_;
  std::filesystem::path folder_;
  bool on_disk_;
  uint64_t limit_ = uint64_t{64} << 20;
  uint64_t disk_hits_ = 0, builds_ = 0;
  std::map<std::string, cl_program> programs_;
};

}  // namespace kaiseki::opencl
