// SPDX-License-Identifier: MIT
#include "nn/data/cached_source.h"

#include <atomic>
#include <cstring>

namespace kaiseki::nn {
namespace {

Picture without_pixels(const Picture& p) {
  return {p.height, p.width, p.channels, {}, p.eighths, p.whole_height, p.whole_width};
}

class CachedPictures : public PictureSource {
 public:
  CachedPictures(PictureSourcePtr source, const Picture& shape)
      : source_(std::move(source)),
        shape_(without_pixels(shape)),
        bytes_(shape.pixels.size()),
        pixels_(new uint8_t[static_cast<size_t>(source_->size()) * bytes_]),
        states_(static_cast<size_t>(source_->size())) {
    class_names_ = source_->class_names();
  }

  int64_t size() const override { return source_->size(); }
  int32_t label(int64_t index) const override { return source_->label(index); }
  std::optional<ByteVector> file(int64_t index) const override { return source_->file(index); }
  std::string name(int64_t index) const override { return source_->name(index); }

  void read(int64_t index, const Preprocessing& how, Picture& picture) const override {
    auto& state = states_[static_cast<size_t>(index)];
    uint8_t* slot = pixels_.get() + static_cast<size_t>(index) * bytes_;
    if (how.channels == shape_.channels && state.load(std::memory_order_acquire) == kReady) {
      std::vector<uint8_t> pixels = std::move(picture.pixels);
      picture = shape_;
      picture.pixels = std::move(pixels);
      picture.pixels.assign(slot, slot + bytes_);
      return;
    }
    source_->read(index, how, picture);
    bool fits = picture.height == shape_.height && picture.width == shape_.width &&
                picture.channels == shape_.channels && picture.eighths == shape_.eighths &&
                picture.whole_height == shape_.whole_height &&
                picture.whole_width == shape_.whole_width;
    uint8_t empty = kEmpty;
    if (!fits || !state.compare_exchange_strong(empty, kFilling)) return;
    std::memcpy(slot, picture.pixels.data(), bytes_);
    state.store(kReady, std::memory_order_release);
  }

 private:
  enum State : uint8_t { kEmpty, kFilling, kReady };

  PictureSourcePtr source_;
  Picture shape_;  // without pixels
  size_t bytes_;
  std::unique_ptr<uint8_t[]> pixels_;  // the system allocates a page when it is written
  mutable std::vector<std::atomic<uint8_t>> states_;
};

}  // namespace

PictureSourcePtr cached(PictureSourcePtr source, const Picture& shape) {
  return std::make_unique<CachedPictures>(std::move(source), shape);
}

}  // namespace kaiseki::nn
