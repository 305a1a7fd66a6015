// SPDX-License-Identifier: MIT
// The samples of a ticket as the files of their pictures, and where the samples lie in the
// pictures. Internal to dist/train.
#pragma once

#include <span>
#include <vector>

#include "dist/wire/tensors.h"
#include "nn/data/sample_place.h"

namespace kaiseki::dist {

/// docs/protocol-tensors.md describes the tensors.
struct FileSamples {
  Tensor bytes = {}, sizes = {}, places = {}, shape = {};

  bool complete() const {
    return bytes.defined() && sizes.defined() && places.defined() && shape.defined();
  }
};

/// Whether there is a file of each image, nodes accept them, and they are smaller than the images.
bool can_send(std::span<const nn::SampleFile> files, const Tensor& images);
/// `images`: [n, channels, height, width].
std::vector<WireTensor> wire_tensors(std::span<const nn::SampleFile> files, const Shape& images);
/// Returns the same bytes on every machine, u8 [n, channels, height, width]. Throws ParseError.
Tensor decode_files(const FileSamples& samples, uint64_t most_bytes = UINT64_MAX);

}  // namespace kaiseki::dist
