// SPDX-License-Identifier: MIT
// Data sets in the format of MNIST: a folder of IDX files.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "nn/data/source.h"
#include "nn/io/idx.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFashion[] = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                    "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

fs::path plain_or_packed(const fs::path& folder, const std::string& name) {
  fs::path plain = folder / name, packed = folder / (name + ".gz");
  return fs::exists(plain) || !fs::exists(packed) ? plain : packed;
}

fs::path file_of(const fs::path& folder, bool train, bool labels) {
  std::string part = train ? "train" : "t10k";
  return plain_or_packed(folder, part + (labels ? "-labels-idx1-ubyte" : "-images-idx3-ubyte"));
}

/// The largest label of the other split, so that both have the same classes. Returns 0 if that
/// split has no readable file.
int32_t largest_label_of_other_split(const fs::path& folder, bool train) {
  const fs::path path = file_of(folder, !train, true);
  if (!fs::exists(path)) return 0;
  try {
    const ByteVector labels = read_idx(path).bytes;
    return labels.empty() ? 0 : std::to_integer<int32_t>(*std::ranges::max_element(labels));
  } catch (const Error& error) {
    log_warning(std::string(error.what()) + "; only the labels of the other file count");
    return 0;
  }
}

}  // namespace

bool is_idx_folder(const fs::path& folder) {
  return fs::exists(file_of(folder, true, false)) || fs::exists(file_of(folder, false, false));
}

PictureSourcePtr open_idx_folder(const fs::path& folder, bool train) {
  fs::path images_path = file_of(folder, train, false), labels_path = file_of(folder, train, true);
  IdxArray images = read_idx(images_path), labels = read_idx(labels_path);
  const Shape& shape = images.shape;
  if (shape.rank() != 3 || shape[1] < 1 || shape[2] < 1 || shape[1] > kMaxPictureSide ||
      shape[2] > kMaxPictureSide)
    throw ParseError(images_path.string(), "header",
                     "expected pictures [n, height, width], got " + shape.str());
  if (labels.shape != Shape{shape[0]})
    throw ParseError(
        labels_path.string(), "header",
        "expected " + std::to_string(shape[0]) + " labels, got shape " + labels.shape.str());
  std::vector<int32_t> classes;
  int32_t most = largest_label_of_other_split(folder, train);
  for (std::byte label : labels.bytes) {
    classes.push_back(std::to_integer<int32_t>(label));
    most = std::max(most, classes.back());
  }
  bool fashion = folder.string().find("fashion") != std::string::npos && most == 9;
  std::vector<std::string> names;
  for (int i = 0; i <= most; ++i) names.push_back(fashion ? kFashion[i] : std::to_string(i));
  auto* first = reinterpret_cast<const uint8_t*>(images.bytes.data());
  return std::make_unique<MemoryPictures>(
      PictureInfo{static_cast<int>(shape[1]), static_cast<int>(shape[2]), 1},
      std::vector<uint8_t>(first, first + images.bytes.size()), std::move(classes),
      std::move(names));
}

}  // namespace kaiseki::nn
