// SPDX-License-Identifier: MIT
#include "nn/io/tar.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::nn {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kMaxPathBytes = 1 << 16;  // of long names and pax records

struct Field {
  size_t at, bytes;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kChecksum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};
constexpr size_t kType = 156;

std::string text_of(ByteView block, Field field) {
  const char* first = reinterpret_cast<const char*>(block.data()) + field.at;
  return std::string(first, strnlen(first, field.bytes));
}

/// Reads digits between blanks. No digits are 0.
bool parse_octal(const std::string& text, uint64_t& value) {
  value = 0;
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  if (begin == std::string::npos) return true;
  const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end + 1, value, 8);
  return error == std::errc() && stop == text.data() + end + 1;
}

/// Reads an octal number, or base 256 if the first bit is set (GNU).
uint64_t number_of(ByteView block, Field field, const ByteSource& source) {
  ByteView digits = block.subspan(field.at, field.bytes);
  uint64_t value = 0;
  if ((digits[0] & std::byte{0x80}) != std::byte{0}) {
    for (size_t i = 1; i < digits.size(); ++i) {
      if (value >> 54) source.fail("the entry's size is 2^62 or more");
      value = value << 8 | std::to_integer<uint64_t>(digits[i]);
    }
    return value;
  }
  const std::string text = text_of(block, field);
  if (!parse_octal(text, value))
    source.fail("expected an octal number in a tar header, got \"" + text + "\"");
  return value;
}

uint64_t checksum_of(ByteView block) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    bool blank = i >= kChecksum.at && i < kChecksum.at + kChecksum.bytes;
    sum += blank ? ' ' : std::to_integer<unsigned>(block[i]);
  }
  return sum;
}

std::string path_of(ByteView block) {
  std::string name = text_of(block, kName);
  bool ustar = std::memcmp(block.data() + kMagic.at, "ustar\0", 6) == 0;
  std::string prefix = ustar ? text_of(block, kPrefix) : "";
  return prefix.empty() ? name : prefix + "/" + name;
}

std::string cleaned(std::string path) {
  while (path.starts_with("./")) path.erase(0, path.find_first_not_of('/', 1));
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path == "." ? "" : path;
}

/// The path and size of the next entry, if long names or pax records give them.
struct Overrides {
  std::string path;
  std::optional<uint64_t> bytes;
};

/// Reads records of the form "LENGTH key=value\n". LENGTH is the number of bytes of the record.
void parse_pax(std::string_view text, const ByteSource& source, Overrides& result) {
  while (!text.empty()) {
    size_t length = 0;
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    size_t record_start = static_cast<size_t>(stop - text.data()) + 1;
    if (error != std::errc() || length > text.size() || record_start + 1 > length || *stop != ' ' ||
        text[length - 1] != '\n')
      source.fail("a pax record is damaged");
    std::string_view record = text.substr(record_start, length - record_start - 1);
    size_t equals = record.find('=');
    if (equals == std::string_view::npos) source.fail("expected '=' in a pax record");
    std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") result.path = value;
    if (key == "size") {
      result.bytes = parse_number<uint64_t>(value);
      if (!result.bytes || *result.bytes >> 62)
        source.fail("expected a number as the size in a pax record");
    }
    text.remove_prefix(length);
  }
}

void put_octal(ByteVector& block, Field field, uint64_t value) {
  for (size_t i = field.bytes - 1; i-- > 0; value >>= 3)
    block[field.at + i] = static_cast<std::byte>('0' + (value & 7));
}

void put_text(ByteVector& block, size_t at, std::string_view text) {
  std::memcpy(block.data() + at, text.data(), text.size());
}

ByteVector make_block(std::string_view path, uint64_t bytes, char type) {
  ByteVector block(kBlock);
  put_text(block, kName.at, path.substr(0, kName.bytes));
  put_octal(block, kMode, 0644);
  put_octal(block, kUser, 0);
  put_octal(block, kGroup, 0);
  put_octal(block, kTime, 0);
  put_octal(block, kSize, bytes);
  if (bytes >> 33) {
    for (size_t i = 0; i < kSize.bytes; ++i)
      block[kSize.at + i] = static_cast<std::byte>(i > 3 ? bytes >> (8 * (11 - i)) : 0);
    block[kSize.at] = std::byte{0x80};
  }
  block[kType] = static_cast<std::byte>(type);
  put_text(block, kMagic.at, std::string_view("ustar\00000", 8));
  put_octal(block, {kChecksum.at, 7}, checksum_of(block));
  block[kChecksum.at + 7] = std::byte{' '};
  return block;
}

}  // namespace

bool begins_as_tar(ByteSource& source) {
  std::byte block[kBlock];
  try {
    source.read_exactly(block, "a tar header");
  } catch (const ParseError&) {
    return false;
  }
  uint64_t sum = 0;
  return parse_octal(text_of(block, kChecksum), sum) && sum == checksum_of(block);
}

bool TarReader::next(TarEntry& entry) {
  source_.skip(left_ + padding_, "the contents of a tar entry");
  left_ = padding_ = 0;
  Overrides overrides;
  for (;;) {
    std::byte block[kBlock];
    source_.read_exactly(block, "a tar header");
    if (std::all_of(std::begin(block), std::end(block), [](auto b) { return b == std::byte{0}; })) {
      while (source_.read(block)) {
      }
      return false;
    }
    if (number_of(block, kChecksum, source_) != checksum_of(block))
      source_.fail("this is no tar header: its checksum does not match");
    char type = static_cast<char>(block[kType]);
    uint64_t bytes = number_of(block, kSize, source_);
    if (bytes >> 62) source_.fail("the entry's size is 2^62 or more");
    if (type == 'L' || type == 'K' || type == 'x' || type == 'g') {
      if (bytes > kMaxPathBytes)
        source_.fail("expected a path of at most 64 KiB, got " + std::to_string(bytes) + " bytes");
      ByteVector data = source_.read_bytes(bytes, "a long name");
      source_.skip(tar_padding(bytes), "a long name");
      const std::string_view text = as_text(data);
      if (type == 'L') overrides.path = text.substr(0, text.find('\0'));
      if (type == 'x') parse_pax(text, source_, overrides);
      continue;
    }
    if (type == 'S') source_.fail("the archive has a sparse file, which is not supported");
    entry.path = cleaned(overrides.path.empty() ? path_of(block) : overrides.path);
    entry.is_file = type == '0' || type == '\0' || type == '7';
    entry.bytes = entry.is_file ? overrides.bytes.value_or(bytes) : 0;
    left_ = entry.bytes;
    padding_ = tar_padding(entry.bytes);
    data_position_ = source_.position();
    return true;
  }
}

ByteVector TarReader::read(uint64_t limit) {
  if (left_ > limit)
    source_.fail("expected an entry of at most " + std::to_string(limit) + " bytes, got " +
                 std::to_string(left_));
  ByteVector data = source_.read_bytes(left_, "the contents of a tar entry");
  left_ = 0;
  return data;
}

ByteVector tar_header(std::string_view path, uint64_t bytes) {
  ByteVector header;
  if (path.size() > kName.bytes) {
    std::string record = " path=" + std::string(path) + "\n";
    size_t length = record.size() + 1;
    while (std::to_string(length).size() + record.size() != length) ++length;
    record = std::to_string(length) + record;
    header = make_block("pax", record.size(), 'x');
    auto text = as_bytes(record);
    header.insert(header.end(), text.begin(), text.end());
    header.resize(header.size() + tar_padding(record.size()));
  }
  ByteVector block = make_block(path, bytes, '0');
  header.insert(header.end(), block.begin(), block.end());
  return header;
}

void append_tar_file(ByteVector& archive, std::string_view path, ByteView contents) {
  ByteVector header = tar_header(path, contents.size());
  archive.insert(archive.end(), header.begin(), header.end());
  archive.insert(archive.end(), contents.begin(), contents.end());
  archive.resize(archive.size() + tar_padding(contents.size()));
}

}  // namespace kaiseki::nn
