// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4).
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/sha256_blocks.h"

namespace kaiseki {

class Sha256 {
 public:
  void update(ByteView bytes);
  /// 64 lower-case hexadecimal digits. The object cannot be used after that.
  std::string finish();

 private:
  Sha256State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  uint64_t length_ = 0;  // bytes
};

std::string sha256(ByteView bytes);
/// Whether the text is 64 lower-case hexadecimal digits. Such a text is safe as a file name.
bool is_sha256(std::string_view text);
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace kaiseki
