// SPDX-License-Identifier: MIT
// Where the pictures of a data set come from: memory, files, an archive or a generator. Inside
// nn/data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "nn/data/picture.h"
#include "nn/io/bytes.h"

namespace kaiseki::nn {

/// Pictures with classes, by index. Thread-safe for reading.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  virtual int64_t size() const = 0;
  /// Into `picture`, whose memory is used again: what decode_for() makes of it.
  virtual void read(int64_t index, const Preprocessing& how, Picture& picture) const = 0;
  virtual int32_t label(int64_t index) const = 0;
  /// Whether read() costs no more than a copy.
  virtual bool in_memory() const { return false; }
  const std::vector<std::string>& class_names() const { return class_names_; }

 protected:
  std::vector<std::string> class_names_;
};

using PictureSourcePtr = std::unique_ptr<PictureSource>;

/// Pictures of one size, as bytes: [size, height, width, channels].
class MemoryPictures : public PictureSource {
 public:
  MemoryPictures(PictureInfo shape, std::vector<uint8_t> pixels, std::vector<int32_t> labels,
                 std::vector<std::string> class_names);
  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  void read(int64_t index, const Preprocessing& how, Picture& picture) const override;
  int32_t label(int64_t index) const override { return labels_[static_cast<size_t>(index)]; }
  bool in_memory() const override { return true; }

 private:
  PictureInfo shape_;
  std::vector<uint8_t> pixels_;
  std::vector<int32_t> labels_;
};

/// To grey by ITU-R BT.601's weights, or grey to three equal channels.
void convert_channels(Picture& picture, int channels);

/// {train,t10k}-{images-idx3,labels-idx1}-ubyte, plain or .gz.
bool is_idx_folder(const std::filesystem::path& folder);
PictureSourcePtr open_idx_folder(const std::filesystem::path& folder, bool train);

/// CIFAR-10's binary batches: records of a class byte, then 32 x 32 pixels of red, green and blue.
struct CifarBatch {
  std::vector<uint8_t> pixels;  // [n, 32, 32, 3]
  std::vector<int32_t> labels;
};
bool is_cifar_batch(const std::string& path, bool train);  // by its name
void append_cifar_batch(ByteView file, std::string_view source, CifarBatch& batch);
bool is_cifar_folder(const std::filesystem::path& folder);
PictureSourcePtr open_cifar_folder(const std::filesystem::path& folder, bool train);
PictureSourcePtr make_cifar(CifarBatch batch);

/// A folder of one folder of pictures for each class.
PictureSourcePtr open_picture_folder(const std::filesystem::path& folder, bool train);
/// A tar of the same, or of CIFAR-10's batches; plain or gzip-compressed.
PictureSourcePtr open_picture_archive(const std::filesystem::path& archive, bool train);

/// Handwritten-like digits, 28 x 28, grey. `count` pictures, the classes in turn.
PictureSourcePtr make_digits(int64_t count, uint64_t seed, bool train);

}  // namespace kaiseki::nn
