// SPDX-License-Identifier: MIT
// read_batch(): chosen samples of a data set.
#pragma once

#include <span>

#include "matrix/random.h"
#include "nn/data/dataset.h"

namespace kaiseki::test {

/// Returns the samples `indices` as one batch, without the random parts of Preprocessing.
inline nn::Batch read_batch(const nn::Dataset& dataset, std::span<const int64_t> indices) {
  const Shape sample = dataset.sample_shape();
  const auto count = static_cast<int64_t>(indices.size());
  nn::Batch batch{Tensor({count, sample[0], sample[1], sample[2]}, DType::u8, Device::cpu()),
                  Tensor({count}, DType::i32, Device::cpu()), dataset.normalization()};
  uint8_t* images = batch.images.overwrite<uint8_t>();
  int32_t* labels = batch.labels.overwrite<int32_t>();
  for (int64_t i = 0; i < count; ++i) {
    Random unused(0);
    dataset.read(indices[static_cast<size_t>(i)], images + i * sample.elements(), labels[i],
                 unused);
  }
  return batch;
}

}  // namespace kaiseki::test
