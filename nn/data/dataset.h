// SPDX-License-Identifier: MIT
// Data sets: samples by index. A sample is a picture of bytes and a class. open_dataset() opens one
// by name or path.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "matrix/random.h"
#include "matrix/shape.h"
#include "matrix/tensor.h"
#include "nn/data/catalog.h"
#include "nn/data/normalization.h"
#include "nn/data/picture.h"
#include "nn/data/sample_place.h"

namespace kaiseki::nn {

struct Batch {
  Tensor images;  // u8 [n, channels, height, width], on the CPU
  Tensor labels;  // i32 [n], on the CPU
  Normalization normalization = {};
  std::vector<SampleFile> files = {};  // with IteratorOptions::files; empty if a sample has none

  /// Returns the network's input: the normalized images, f32 on `device`.
  Tensor inputs(const Device& device = default_device()) const;
};

/// Several threads may read at the same time.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// [channels, height, width]
  virtual Shape sample_shape() const = 0;
  virtual int classes() const = 0;
  /// One name for each class.
  virtual std::vector<std::string> class_names() const = 0;
  virtual Normalization normalization() const { return {}; }
  /// Writes the sample (sample_shape().elements() bytes) and its class. All random numbers come
  /// from `augmentation`, so the same stream gives the same sample. Throws ParseError or Error.
  virtual void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const = 0;
  /// Returns the file of the sample that read() decodes, or nullopt if there is none. The same
  /// stream gives the same part of the picture.
  virtual std::optional<SampleFile> file(int64_t index, Random& augmentation) const;
};

struct DataOptions {
  /// "mnist", "fashion-mnist", "cifar10", "digits", "digits:COUNT", "digits:COUNT:SEED" or a path.
  /// A path is a folder of IDX files or of CIFAR-10's binary batches. It may also have one folder
  /// of pictures for each class. A tar (plain or .gz) of batches or pictures also works.
  /// A list of pictures is a .txt file with lines "PATH LABEL", or a folder. The folder has
  /// train.txt and test.txt (or val.txt).
  std::string spec;
  /// True: the training part, with the random parts of `preprocessing`. False: the test part.
  bool train = true;
  Preprocessing preprocessing{};
  Normalization normalization{};
  /// Decoded pictures are cached if all of them fit into this many bytes.
  uint64_t cache_bytes = uint64_t{512} << 20;
  Fetch fetch{};  // downloads sets that are not on this machine; may be empty
};

/// Pictures are split by the top folders "train" and "test" ("val") if these exist. Otherwise every
/// tenth picture of a class, in the order of names, is for testing. If a class has one picture, it
/// is in both parts. Throws Error or ParseError with the file's name.
std::unique_ptr<Dataset> open_dataset(const DataOptions& options);

}  // namespace kaiseki::nn
