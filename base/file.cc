// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace kaiseki {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_errno(std::string_view operation, const fs::path& path, int error) {
  throw Error(
      message(operation, "cannot ", operation, " ", path.string(), ": ", std::strerror(error)));
}

void write_all(int descriptor, ByteView bytes, const fs::path& path) {
  while (!bytes.empty()) {
    ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw_errno("write", path, done < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() { close(); }
  int value() const { return value_; }
  int close() {
    int result = value_ < 0 ? 0 : ::close(value_);
    value_ = -1;
    return result;
  }

 private:
  int value_;
};

/// Deletes the file unless `keep` is set.
struct Temporary {
  fs::path path;
  bool keep = false;
  ~Temporary() {
    if (!keep) ::unlink(path.c_str());
  }
};

/// A name that no file has. In a container, a killed process may have had the same number.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<uint64_t> counter = 0;
  const std::string start = path.string() + ".tmp-" + std::to_string(::getpid()) + "-";
  for (;;) {
    fs::path name = start + std::to_string(counter++);
    std::error_code ignored;
    if (!fs::exists(name, ignored)) return name;
  }
}

void sync_folder(const fs::path& file) {
  fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  Descriptor descriptor(folder, O_RDONLY);
  if (descriptor.value() >= 0) ::fsync(descriptor.value());
}

/// Resolves symbolic links, so that the link's target is replaced and not the link.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
}

bool is_special(const fs::path& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

FileSource::FileSource(const fs::path& path) : ByteSource(path.string()) {
  // Without O_NONBLOCK, opening a pipe waits until something writes to it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_errno("read", path, errno);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  file_.reset(::fdopen(descriptor, "rb"));
  if (!file_) {
    ::close(descriptor);
    throw_errno("read", path, errno);
  }
  struct stat info;
  if (::fstat(::fileno(file_.get()), &info) != 0) throw_errno("read", path, errno);
  if (S_ISDIR(info.st_mode)) throw_errno("read", path, EISDIR);
  // Files in /proc have the size 0.
  if (S_ISREG(info.st_mode) && info.st_size > 0) size_ = static_cast<uint64_t>(info.st_size);
}

size_t FileSource::read(std::span<std::byte> out) {
  size_t count = out.empty() ? 0 : std::fread(out.data(), 1, out.size(), file_.get());
  if (count < out.size() && std::ferror(file_.get())) throw_errno("read", name(), errno);
  position_ += count;
  return count;
}

std::optional<uint64_t> FileSource::remaining() const {
  if (!size_) return std::nullopt;
  return *size_ > position_ ? *size_ - position_ : 0;
}

void FileSource::skip(uint64_t count, std::string_view what) {
  auto left = remaining();
  if (!left || *left < count) return ByteSource::skip(count, what);
  if (::fseeko(file_.get(), static_cast<off_t>(count), SEEK_CUR) != 0)
    throw_errno("read", name(), errno);
  position_ += count;
}

ByteVector read_file(const fs::path& path, uint64_t limit) {
  return FileSource(path).read_all(limit);
}

void write_file_atomic(const fs::path& path, const FileParts& write, FileSync sync) {
  const auto write_to = [&](const Descriptor& descriptor) {
    write([&](ByteView part) { write_all(descriptor.value(), part, path); });
  };
  if (is_special(path)) {
    Descriptor descriptor(path, O_WRONLY);
    if (descriptor.value() < 0) throw_errno("write", path, errno);
    return write_to(descriptor);
  }
  const fs::path target = target_of(path);
  Temporary temporary{temporary_beside(target)};
  Descriptor descriptor(temporary.path, O_WRONLY | O_CREAT | O_EXCL);
  if (descriptor.value() < 0) {
    temporary.keep = true;
    throw_errno("write", path, errno);
  }
  write_to(descriptor);
  if (sync == FileSync::wait && ::fsync(descriptor.value()) != 0 && errno != EINVAL)
    throw_errno("write", path, errno);
  if (descriptor.close() != 0) throw_errno("write", path, errno);
  if (::rename(temporary.path.c_str(), target.c_str()) != 0) throw_errno("write", path, errno);
  temporary.keep = true;
  if (sync == FileSync::wait) sync_folder(target);
}

void write_file_atomic(const fs::path& path, std::span<const ByteView> parts) {
  write_file_atomic(path, [&](const auto& append) {
    for (const ByteView part : parts) append(part);
  });
}

void write_file_atomic(const fs::path& path, ByteView bytes, FileSync sync) {
  write_file_atomic(
      path, [&](const auto& append) { append(bytes); }, sync);
}

void expect_writable(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error) || path.filename().empty()) throw_errno("write", path, EISDIR);
  if (is_special(path)) {  // opening and closing a pipe would end its reader's input
    if (::access(path.c_str(), W_OK) != 0) throw_errno("write", path, errno);
    return;
  }
  Temporary temporary{temporary_beside(target_of(path)), true};
  Descriptor descriptor(temporary.path, O_WRONLY | O_CREAT | O_EXCL);
  if (descriptor.value() < 0) throw_errno("write", path, errno);
  temporary.keep = false;
}

}  // namespace kaiseki
