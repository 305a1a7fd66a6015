// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/program_cache.h"

#include "base/cache_file.h"
#include "base/environment.h"
#include "base/error.h"
#include "matrix/backend/opencl/status.h"

namespace kaiseki::opencl {
namespace {

constexpr uint64_t kLogLimit = uint64_t{1} << 20;  // bytes of build logs to keep
constexpr size_t kProgramLimit = 1024;             // programs to keep in memory

std::string first_lines(const std::string& text, int count) {
  size_t end = 0;
  for (int i = 0; i < count && end != std::string::npos; ++i) end = text.find('\n', end + (i > 0));
  std::string lines = text.substr(0, end);
  for (char& c : lines)
    if (c == '\n') c = ' ';
  return lines;
}

std::string build_log(cl_program program, cl_device_id device) {
  size_t bytes = 0;
  cl_int status =
      cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  if (status == CL_SUCCESS && bytes)
    status = cl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(),
                                        nullptr);
  if (status != CL_SUCCESS) return "no build log: " + status_name(status);
  return log.substr(0, log.find('\0'));
}

/// `names`: files of cl_kernels, separated by '+'.
std::string joined_files(std::string_view names) {
  std::string text;
  while (true) {
    const std::string_view file = names.substr(0, names.find('+')), found = embedded_kernel(file);
    if (found.empty())
      throw DeviceError(message("opencl", "expected a kernel file, got '", file, "'"));
    text += found;
    if (file.size() == names.size()) return text;
    names.remove_prefix(file.size() + 1);
  }
}

}  // namespace

ProgramCache::ProgramCache(const OpenclDeviceProperties& facts, std::string label,
                           cl_context context)
    : facts_(facts),
      label_(std::move(label)),
      context_(context),
      folder_(environment().cache_dir / "opencl"),
      on_disk_(!facts.caches_programs) {}

ProgramCache::~ProgramCache() {
  for (auto& [key, program] : programs_) cl().clReleaseProgram(program);
}

void ProgramCache::keep_on_disk(uint64_t limit) {
  on_disk_ = true;
  limit_ = limit;
}

cl_program ProgramCache::get(std::string_view program, Source kind, const std::string& options) {
  std::string key = std::string(program) + '\n' + options;
  if (auto found = programs_.find(key); found != programs_.end()) return found->second;
  std::string source(kind == Source::user ? "" : embedded_kernel("common.cl"));
  source += kind == Source::file ? joined_files(program) : program;
  cl_program built = build(source, "-cl-std=CL1.2" + (options.empty() ? "" : " " + options));
  if (programs_.size() >= kProgramLimit) {  // kernels keep their own reference to the program
    for (auto& [old, unused] : programs_) cl().clReleaseProgram(unused);
    programs_.clear();
  }
  programs_.emplace(std::move(key), built);
  return built;
}

cl_program ProgramCache::build(const std::string& source, const std::string& options) {
  std::filesystem::path file;
  if (on_disk_) {
    file = file_for(source, options);
    if (cl_program loaded = load(file, options)) return loaded;
  }
  const char* text = source.c_str();
  size_t length = source.size();
  cl_int status = CL_SUCCESS;
  cl_program program = cl().clCreateProgramWithSource(context_, 1, &text, &length, &status);
  check(status, "clCreateProgramWithSource", label_);
  try {
    compile(program, source, options);
  } catch (...) {
    cl().clReleaseProgram(program);
    throw;
  }
  ++builds_;
  if (on_disk_) store(file, program);
  return program;
}

void ProgramCache::compile(cl_program program, const std::string& source,
                           const std::string& options) {
  cl_int status = cl().clBuildProgram(program, 1, &facts_.id, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  std::string log = build_log(program, facts_.id);
  std::filesystem::path file = folder_ / ("build-" + hash_name(source + options) + ".log");
  bool kept = write_cache_file(file, options + "\n\n" + log + "\n\n" + source);
  remove_oldest(folder_, ".log", kLogLimit);
  refuse(status, message("opencl", "clBuildProgram on ", label_, ": ", status_name(status), ": ",
                         first_lines(log, 3),
                         kept ? "; the whole log is in " + file.string() : std::string()));
}

std::filesystem::path ProgramCache::file_for(const std::string& source,
                                             const std::string& options) const {
  return folder_ /
         (hash_name(facts_.name + '\n' + facts_.vendor + '\n' + facts_.platform + '\n' +
                    facts_.driver + '\n' + library_version() + '\n' + options + '\n' + source) +
          ".bin");
}

cl_program ProgramCache::load(const std::filesystem::path& file, const std::string& options) {
  std::string binary = read_binary(file);
  if (binary.empty()) return nullptr;
  auto bytes = reinterpret_cast<const unsigned char*>(binary.data());
  size_t length = binary.size();
  cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
  cl_program program =
      cl().clCreateProgramWithBinary(context_, 1, &facts_.id, &length, &bytes, &loaded, &status);
  if (status == CL_SUCCESS && loaded == CL_SUCCESS &&
      cl().clBuildProgram(program, 1, &facts_.id, options.c_str(), nullptr, nullptr) ==
          CL_SUCCESS) {
    ++disk_hits_;
    return program;
  }
  if (program) cl().clReleaseProgram(program);
  return nullptr;
}

void ProgramCache::store(const std::filesystem::path& file, cl_program program) {
  size_t length = 0;
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(length), &length, nullptr) !=
          CL_SUCCESS ||
      length == 0)
    return;
  std::string binary(length, '\0');
  auto bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (cl().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr) !=
      CL_SUCCESS)
    return;
  write_binary(file, binary);
  remove_oldest(folder_, ".bin", limit_);
}

}  // namespace kaiseki::opencl
