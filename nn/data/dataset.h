// SPDX-License-Identifier: MIT
// Data sets: samples by index, each an array of floats and a class. open_dataset() makes one from
// the text that `--data` takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "matrix/random.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"
#include "nn/data/catalogue.h"
#include "nn/data/picture.h"

namespace kaiseki::nn {

struct Batch {
  Tensor images;  // f32 [n, channels, height, width], on the CPU
  Tensor labels;  // i32 [n], on the CPU
};

/// Thread-safe for reading.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// [channels, height, width]
  virtual Shape sample_shape() const = 0;
  virtual int classes() const = 0;
  /// One for each class.
  virtual std::vector<std::string> class_names() const = 0;
  /// Writes the sample (sample_shape().elements() floats) and its class. Random numbers come from
  /// `augmentation` alone, so the same stream gives the same sample. Throws ParseError, Error.
  virtual void read(int64_t index, float* out, int32_t& label, Random& augmentation) const = 0;
};

struct DataOptions {
  /// "mnist", "fashion-mnist", "cifar10"; "digits", "digits:COUNT", "digits:COUNT:SEED"; or a path:
  /// a folder of IDX files, of CIFAR-10's binary batches, or of one folder of pictures for each
  /// class; or a tar, plain or .gz, of the last two.
  std::string spec;
  bool train =
      true;  // the training part, with the random parts of `preprocessing`; else the test part
  Preprocessing preprocessing{};
  uint64_t cache_bytes = uint64_t{512} << 20;  // decoded pictures are kept when all fit in this
  Fetch fetch{};  // brings sets that are not on this machine; may be empty
};

/// Pictures are split by the top folders "train" and "test" ("val") where they exist; else every
/// tenth picture of a class, in the order of names, is for testing (a class with one picture has it
/// in both parts). Throws Error or ParseError that names the file.
std::unique_ptr<Dataset> open_dataset(const DataOptions& options);

/// The samples `indices`, without random parts, as one batch.
Batch read_batch(const Dataset& dataset, std::span<const int64_t> indices);

}  // namespace kaiseki::nn
