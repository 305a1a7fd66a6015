// SPDX-License-Identifier: MIT
// Detects gzip streams by their magic number.
#include <algorithm>

#include "base/file.h"
#include "nn/io/gzip.h"

namespace kaiseki::nn {
namespace {

/// A stream of `first`, then `rest`.
class PrefixedSource : public ByteSource {
 public:
  PrefixedSource(ByteVector first, std::unique_ptr<ByteSource> rest)
      : ByteSource(rest->name()), first_(std::move(first)), rest_(std::move(rest)) {}

  size_t read(std::span<std::byte> out) override {
    size_t from_first = 0;
    if (position_ < first_.size()) {
      from_first = std::min<size_t>(out.size(), first_.size() - position_);
      std::copy_n(first_.begin() + static_cast<ptrdiff_t>(position_), from_first, out.begin());
    }
    size_t count = from_first + rest_->read(out.subspan(from_first));
    position_ += count;
    return count;
  }

  std::optional<uint64_t> remaining() const override {
    auto left = rest_->remaining();
    if (left && position_ < first_.size()) *left += first_.size() - position_;
    return left;
  }

 private:
  ByteVector first_;
  std::unique_ptr<ByteSource> rest_;
};

}  // namespace

std::unique_ptr<ByteSource> maybe_gzip(std::unique_ptr<ByteSource> source, uint64_t limit) {
  ByteVector first(2);
  first.resize(source->read(first));
  bool packed = first.size() == 2 && first[0] == std::byte{0x1f} && first[1] == std::byte{0x8b};
  std::unique_ptr<ByteSource> whole =
      std::make_unique<PrefixedSource>(std::move(first), std::move(source));
  if (!packed) return whole;
  return std::make_unique<GzipSource>(std::move(whole), limit);
}

std::unique_ptr<ByteSource> open_maybe_gzip(const std::filesystem::path& path, uint64_t limit) {
  return maybe_gzip(std::make_unique<FileSource>(path), limit);
}

ByteVector gunzip(ByteView packed, uint64_t limit, std::string name) {
  GzipSource source(std::make_unique<MemorySource>(packed, std::move(name)), limit);
  return source.read_all(limit);
}

}  // namespace kaiseki::nn
