// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include <algorithm>

#include "base/file.h"
#include "base/hex.h"

namespace kaiseki {

void Sha256::update(ByteView bytes) {
  const auto add = has_sha256_instructions() ? sha256_blocks_by_instructions : sha256_blocks;
  while (!bytes.empty()) {
    size_t used = length_ % 64;
    size_t count = std::min(bytes.size(), 64 - used);
    if (used == 0 && count == 64) {
      count = bytes.size() / 64 * 64;
      add(state_, bytes.data(), count / 64);
    } else {
      std::copy_n(bytes.begin(), count, pending_.begin() + static_cast<ptrdiff_t>(used));
      if (used + count == 64) add(state_, pending_.data(), 1);
    }
    length_ += count;
    bytes = bytes.subspan(count);
  }
}

std::string Sha256::finish() {
  uint64_t bits = length_ * 8;
  std::byte padding[72] = {std::byte{0x80}};
  size_t zeros = 63 - (length_ + 8) % 64;
  for (int i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(std::span(padding, zeros + 9));
  std::byte digest[32];
  for (size_t i = 0; i < 32; ++i)
    digest[i] = static_cast<std::byte>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return to_hex(digest);
}

std::string sha256(ByteView bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

bool is_sha256(std::string_view text) { return text.size() == 64 && is_hex(text); }

std::string sha256_of_file(const std::filesystem::path& path) {
  FileSource file(path);
  Sha256 hash;
  ByteVector buffer(1 << 16);
  while (size_t count = file.read(buffer)) hash.update(std::span(buffer).first(count));
  return hash.finish();
}

}  // namespace kaiseki
