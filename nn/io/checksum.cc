// SPDX-License-Identifier: MIT
#include "nn/io/checksum.h"

#include "base/error.h"
#include "base/sha256.h"

namespace kaiseki::nn {
namespace {

constexpr std::string_view kKey = "kaiseki_sha256";
const std::string kZeros(64, '0');

/// The position of the checksum's digits in a header that this library wrote.
size_t position_in(std::string_view header, std::string_view digits) {
  const std::string key = "\"" + std::string(kKey) + "\":\"";
  const size_t at = header.find(key + std::string(digits) + "\"");
  return at == header.npos ? at : at + key.size();
}

std::string sum_of(std::string_view header, std::span<const ByteView> parts) {
  Sha256 hash;
  hash.update(as_bytes(header));
  for (const ByteView part : parts) hash.update(part);
  return hash.finish();
}

}  // namespace

Metadata with_checksum(Metadata metadata) {
  metadata.insert_or_assign(std::string(kKey), kZeros);
  return metadata;
}

void write_checksum(std::string& header, std::span<const ByteView> parts) {
  const std::string sum = sum_of(header, parts);
  header.replace(position_in(header, kZeros), kZeros.size(), sum);
}

void check_checksum(std::string_view header, std::span<const ByteView> parts, Metadata& metadata,
                    std::string_view source) {
  const auto found = metadata.extract(std::string(kKey));
  if (!found) return;
  const std::string& expected = found.mapped();
  const size_t at = position_in(header, expected);
  if (at == header.npos)
    throw ParseError(source, "header",
                     "expected a checksum of 64 digits, got '" + expected.substr(0, 80) + "'");
  std::string zeroed(header);
  zeroed.replace(at, expected.size(), expected.size(), '0');
  if (sum_of(zeroed, parts) != expected)
    throw ParseError(
        source, "checksum",
        "the contents do not have the SHA-256 in the metadata: the file is damaged, or "
        "another program changed it and kept kaiseki_sha256");
}

}  // namespace kaiseki::nn
