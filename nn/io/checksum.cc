// SPDX-License-Identifier: MIT
#include "nn/io/checksum.h"

#include "base/error.h"

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

}  // namespace

Metadata with_checksum(Metadata metadata) {
  metadata.insert_or_assign(std::string(kKey), kZeros);
  return metadata;
}

ChecksumWriter::ChecksumWriter(std::string& header) : header_(header) {
  hash_.update(as_bytes(header));
}

void ChecksumWriter::finish() {
  header_.replace(position_in(header_, kZeros), kZeros.size(), hash_.finish());
}

ChecksumCheck::ChecksumCheck(std::string_view header, Metadata& metadata, std::string_view source)
    : source_(source) {
  const auto found = metadata.extract(std::string(kKey));
  if (!found) return;
  expected_ = found.mapped();
  const size_t at = position_in(header, expected_);
  if (at == header.npos || expected_.empty())
    throw ParseError(source, "header",
                     "expected a checksum of 64 digits, got '" + expected_.substr(0, 80) + "'");
  std::string zeroed(header);
  zeroed.replace(at, expected_.size(), expected_.size(), '0');
  hash_.update(as_bytes(zeroed));
}

void ChecksumCheck::add(ByteView part) {
  if (!expected_.empty()) hash_.update(part);
}

void ChecksumCheck::finish() {
  if (expected_.empty() || hash_.finish() == expected_) return;
  throw ParseError(source_, "checksum",
                   "the contents do not have the SHA-256 in the metadata: the file is damaged, or "
                   "another program changed it and kept kaiseki_sha256");
}

}  // namespace kaiseki::nn
