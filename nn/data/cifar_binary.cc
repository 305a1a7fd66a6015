// SPDX-License-Identifier: MIT
// CIFAR-10 in the authors' binary format: https://www.cs.toronto.edu/~kriz/cifar.html
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "nn/data/source.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPixels = 32 * 32, kRecord = 1 + 3 * kPixels;
constexpr uint64_t kMaxFile = uint64_t{1} << 30;

std::vector<fs::path> batches_of(const fs::path& folder, bool train) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_cifar_batch(entry.path().filename().string(), train)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_cifar_batch(const std::string& path, bool train) {
  std::string name = fs::path(path).filename().string();
  if (!train) return name == "test_batch.bin";
  return name.starts_with("data_batch_") && name.ends_with(".bin");
}

void append_cifar_batch(ByteView file, std::string_view source, CifarBatch& batch) {
  if (file.empty() || file.size() % kRecord != 0)
    throw ParseError(
        source, "byte " + std::to_string(file.size()),
        "expected records of 3073 bytes, got " + std::to_string(file.size()) + " bytes");
  for (size_t at = 0; at < file.size(); at += kRecord) {
    int label = std::to_integer<int>(file[at]);
    if (label > 9)
      throw ParseError(source, "byte " + std::to_string(at),
                       "expected a class from 0 to 9, got " + std::to_string(label));
    batch.labels.push_back(label);
    size_t first = batch.pixels.size();
    batch.pixels.resize(first + 3 * kPixels);
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < kPixels; ++i)
        batch.pixels[first + 3 * i + c] = std::to_integer<uint8_t>(file[at + 1 + c * kPixels + i]);
  }
}

bool is_cifar_folder(const fs::path& folder) {
  return !batches_of(folder, true).empty() || !batches_of(folder, false).empty();
}

PictureSourcePtr make_cifar(CifarBatch batch) {
  return std::make_unique<MemoryPictures>(
      PictureInfo{32, 32, 3}, std::move(batch.pixels), std::move(batch.labels),
      std::vector<std::string>{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                               "horse", "ship", "truck"});
}

PictureSourcePtr open_cifar_folder(const fs::path& folder, bool train) {
  CifarBatch batch;
  auto files = batches_of(folder, train);
  if (files.empty())
    throw Error(message("data", "expected ", train ? "data_batch_1.bin" : "test_batch.bin", " in ",
                        folder.string(), ", got none"));
  for (const fs::path& file : files)
    append_cifar_batch(read_file(file, kMaxFile), file.string(), batch);
  return make_cifar(std::move(batch));
}

}  // namespace kaiseki::nn
