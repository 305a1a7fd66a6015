// SPDX-License-Identifier: MIT
#include "dist/pool/acknowledged.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"

namespace kaiseki::dist {
namespace {

constexpr uint64_t kMostBytes = 1024;

/// A line of fixed length, so that a later text replaces all of an earlier one.
std::string text_of(const AcknowledgedIds::Ids& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    char part[64];
    std::snprintf(part, sizeof part, "%s %019lld ", AcknowledgedIds::kTables[i],
                  static_cast<long long>(ids[i]));
    text += part;
  }
  return text + sha256(as_bytes(text)) + "\n";
}

}  // namespace

AcknowledgedIds::AcknowledgedIds(std::filesystem::path file) : file_(std::move(file)) {}

AcknowledgedIds::~AcknowledgedIds() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<AcknowledgedIds::Ids> AcknowledgedIds::read() const {
  Ids ids{};
  if (!std::filesystem::exists(file_)) return ids;
  try {
    const ByteVector bytes = read_file(file_, kMostBytes);
    const std::string text(as_text(bytes));
    long long found[4] = {};
    std::sscanf(text.c_str(), "project %lld task %lld ticket %lld result %lld", &found[0],
                &found[1], &found[2], &found[3]);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = found[i];
    if (text_of(ids) == text) return ids;
  } catch (const Error&) {
  }
  return std::nullopt;
}

void AcknowledgedIds::write(const Ids& ids) noexcept {
  if (ids == written_) return;
  try {
    if (descriptor_ < 0) descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::string text = text_of(ids);
    if (::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
      written_ = ids;
  } catch (const std::exception&) {
  }
}

}  // namespace kaiseki::dist
