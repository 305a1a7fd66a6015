// SPDX-License-Identifier: MIT
// Reads the central directory at the end of the archive. It has the sizes and places of all files.
#include "nn/io/npz.h"

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "nn/io/deflate.h"
#include "nn/io/npy.h"

namespace kaiseki::nn {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kMaxComment = 65535;
constexpr uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8Name = 0x800, kVersion = 20;
constexpr uint64_t kMostBytes = ~uint32_t{0} - (1u << 24);  // leaves room for the directory
constexpr uint16_t kFirstDay = 0x21;  // 1980-01-01: equal arrays give equal files
constexpr std::string_view kExtension = ".npy";

/// Reads numbers at a place in the archive, which may be too short.
class ArchiveBytes {
 public:
  ArchiveBytes(ByteView bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  ByteView part(uint64_t at, uint64_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at)
      fail(at, "expected " + std::to_string(count) + " bytes, got the end of the file");
    return bytes_.subspan(at, count);
  }
  template <typename T>
  T number(uint64_t at) const {
    return load_le<T>(part(at, sizeof(T)).data());
  }
  uint64_t size() const { return bytes_.size(); }
  const std::string& source() const { return source_; }
  [[noreturn]] void fail(uint64_t at, const std::string& what) const {
    throw ParseError(source_, "byte " + std::to_string(at), what);
  }

 private:
  ByteView bytes_;
  const std::string& source_;
};

/// The record at the end. A comment of up to 65,535 bytes may follow it.
uint64_t find_end(const ArchiveBytes& bytes) {
  if (bytes.size() < kEndBytes) bytes.fail(0, "expected a zip archive");
  const uint64_t last = bytes.size() - kEndBytes;
  for (uint64_t back = 0; back <= std::min<uint64_t>(last, kMaxComment); ++back) {
    const uint64_t at = last - back;
    if (bytes.number<uint32_t>(at) == kEnd && bytes.number<uint16_t>(at + 20) == back) return at;
  }
  bytes.fail(0, "expected a zip archive");
}

/// The file that the entry of the directory at `at` describes. Files do not share bytes, so their
/// sizes together are at most `left`, which shrinks.
NamedTensor read_entry(const ArchiveBytes& bytes, uint64_t at, uint64_t& left) {
  const auto flags = bytes.number<uint16_t>(at + 8), method = bytes.number<uint16_t>(at + 10);
  const auto crc = bytes.number<uint32_t>(at + 16);
  const auto packed_size = bytes.number<uint32_t>(at + 20);
  const auto size = bytes.number<uint32_t>(at + 24);
  std::string name(as_text(bytes.part(at + kCentralBytes, bytes.number<uint16_t>(at + 28))));
  const auto local = bytes.number<uint32_t>(at + 42);
  if (packed_size == ~0u || size == ~0u || local == ~0u)
    bytes.fail(at, "zip64 is not supported; store fewer bytes in an archive");
  if (flags & kEncrypted) bytes.fail(at, "the file is encrypted");
  if (bytes.number<uint32_t>(local) != kLocal) bytes.fail(local, "expected a file of the archive");
  const uint64_t first =
      local + kLocalBytes + bytes.number<uint16_t>(local + 26) + bytes.number<uint16_t>(local + 28);
  const ByteView packed = bytes.part(first, packed_size);
  if (packed_size > left) bytes.fail(at, "files of the archive overlap");
  left -= packed_size;
  ByteVector inflated;
  if (method == kDeflated)
    inflated = inflate_raw(packed, size, bytes.source());
  else if (method != kStored || packed_size != size)
    bytes.fail(at, "expected a stored or deflated file, got method " + std::to_string(method));
  const ByteView content = method == kDeflated ? ByteView(inflated) : packed;
  if (crc32_of(content) != crc) bytes.fail(first, "the checksum of '" + name + "' is wrong");
  if (name.ends_with(kExtension)) name.resize(name.size() - kExtension.size());
  Tensor value = read_npy(content, bytes.source() + "(" + name + ")");
  return {std::move(name), std::move(value)};
}

void put(ByteVector& out, std::initializer_list<std::pair<uint32_t, int>> fields) {
  for (auto [value, bytes] : fields)
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void put(ByteVector& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

}  // namespace

std::vector<NamedTensor> read_npz(ByteView archive, const std::string& source) {
  const ArchiveBytes bytes(archive, source);
  const uint64_t end = find_end(bytes);
  const auto count = bytes.number<uint16_t>(end + 10);
  uint64_t at = bytes.number<uint32_t>(end + 16), left = bytes.size();
  std::vector<NamedTensor> arrays;
  for (int i = 0; i < count; ++i) {
    if (bytes.number<uint32_t>(at) != kCentral) bytes.fail(at, "expected a directory entry");
    arrays.push_back(read_entry(bytes, at, left));
    at += kCentralBytes + bytes.number<uint16_t>(at + 28) + bytes.number<uint16_t>(at + 30) +
          bytes.number<uint16_t>(at + 32);
  }
  return arrays;
}

std::vector<NamedTensor> read_npz(const std::string& path) {
  return read_npz(read_file(path), path);
}

ByteVector encode_npz(const std::vector<NamedTensor>& arrays, bool compressed) {
  ByteVector archive, directory;
  std::vector<std::string> names;
  if (arrays.size() > 65535) throw Error(message("npz", "expected at most 65535 arrays"));
  for (const NamedTensor& array : arrays) {
    const std::string name = array.name + std::string(kExtension);
    if (array.name.empty() || name.size() > 65535 || std::count(names.begin(), names.end(), name))
      throw Error(message("npz", "expected different names, got '", array.name, "'"));
    names.push_back(name);
    const ByteVector content = encode_npy(array.value);
    const ByteVector packed = compressed ? deflate_raw(content) : content;
    if (content.size() >= kMostBytes || archive.size() + packed.size() >= kMostBytes)
      throw Error(message("npz", "expected an archive under 4 GiB"));
    const auto start = static_cast<uint32_t>(archive.size());
    const auto name_size = static_cast<uint32_t>(name.size());
    ByteVector common;  // the local header and the directory share it
    put(common, {{kVersion, 2},
                 {kUtf8Name, 2},
                 {compressed ? kDeflated : kStored, 2},
                 {0, 2},
                 {kFirstDay, 2},
                 {crc32_of(content), 4},
                 {static_cast<uint32_t>(packed.size()), 4},
                 {static_cast<uint32_t>(content.size()), 4},
                 {name_size, 2},
                 {0, 2}});
    put(archive, {{kLocal, 4}});
    put(archive, common);
    put(archive, as_bytes(name));
    put(archive, packed);
    put(directory, {{kCentral, 4}, {kVersion, 2}});
    put(directory, common);
    put(directory, {{0, 2}, {0, 2}, {0, 2}, {0, 4}, {start, 4}});
    put(directory, as_bytes(name));
  }
  const auto count = static_cast<uint32_t>(arrays.size());
  const auto start = static_cast<uint32_t>(archive.size());
  put(archive, directory);
  put(archive, {{kEnd, 4},
                {0, 2},
                {0, 2},
                {count, 2},
                {count, 2},
                {static_cast<uint32_t>(directory.size()), 4},
                {start, 4},
                {0, 2}});
  return archive;
}

void write_npz(const std::string& path, const std::vector<NamedTensor>& arrays, bool compressed) {
  write_file_atomic(path, encode_npz(arrays, compressed));
}

}  // namespace kaiseki::nn
