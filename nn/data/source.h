// SPDX-License-Identifier: MIT
// Sources of a data set's pictures: memory, files, an archive or a generator. Internal to nn/data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

/// Pictures with classes, by index. Several threads may read at the same time.
class PictureSource {
 public:
  virtual ~PictureSource() = default;
  virtual int64_t size() const = 0;
  /// Decodes as decode_for() into `picture`, and reuses its memory.
  virtual void read(int64_t index, const Preprocessing& how, Picture& picture) const = 0;
  virtual int32_t label(int64_t index) const = 0;
  /// The encoded picture, and its name for messages. Returns nullopt if there is no file.
  virtual std::optional<ByteVector> file(int64_t) const { return {}; }
  virtual std::string name(int64_t) const { return {}; }
  /// Returns whether read() costs no more than a copy.
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

/// Converts to gray with the weights of ITU-R BT.601, or gray to three equal channels.
void convert_channels(Picture& picture, int channels);

/// {train,t10k}-{images-idx3,labels-idx1}-ubyte, plain or .gz.
bool is_idx_folder(const std::filesystem::path& folder);
PictureSourcePtr open_idx_folder(const std::filesystem::path& folder, bool train);

/// CIFAR-10's binary batches. A record is a class byte, then the red, green and blue planes of
/// 32 x 32 pixels.
struct CifarBatch {
  std::vector<uint8_t> pixels;  // [n, 32, 32, 3]
  std::vector<int32_t> labels;
};
bool is_cifar_batch(const std::string& path, bool train);  // by the file's name
void append_cifar_batch(ByteView file, std::string_view source, CifarBatch& batch);
bool is_cifar_folder(const std::filesystem::path& folder);
PictureSourcePtr open_cifar_folder(const std::filesystem::path& folder, bool train);
PictureSourcePtr make_cifar(CifarBatch batch);

/// A folder of one folder of pictures for each class.
PictureSourcePtr open_picture_folder(const std::filesystem::path& folder, bool train);
/// A list of pictures: each line is "PATH LABEL", with the path relative to the list's folder.
PictureSourcePtr open_picture_list(const std::filesystem::path& file, bool train);
/// A folder with the lists train.txt and test.txt (or val.txt).
bool is_list_folder(const std::filesystem::path& folder);
PictureSourcePtr open_list_folder(const std::filesystem::path& folder, bool train);
/// A tar of such folders or of CIFAR-10's batches, plain or compressed with gzip.
PictureSourcePtr open_picture_archive(const std::filesystem::path& archive, bool train);

/// `count` drawn digits, 28 x 28, gray. Picture i has class i % 10.
PictureSourcePtr make_digits(int64_t count, uint64_t seed, bool train);

}  // namespace kaiseki::nn
