// SPDX-License-Identifier: MIT
// Packs the pictures of a ticket into a blob: as bytes, or as the files that they come from.
#pragma once

#include <span>

#include "dist/wire/tensors.h"
#include "nn/data/normalization.h"
#include "nn/data/sample_place.h"

namespace kaiseki::dist {

struct Samples {
  Tensor images;  // u8 [n, channels, ...], on the CPU
  nn::Normalization normalization;
};

/// `files`: of all samples, or empty. They are sent in place of the images if they are smaller. No
/// picture is encoded.
ByteVector pack_samples(const Samples& samples, std::span<const nn::SampleFile> files = {});
/// Decodes files to the same pixels on every machine. Throws ParseError, also if the samples would
/// have more than `most_bytes` as floats.
Samples unpack_samples(ByteView blob, uint64_t most_bytes = UINT64_MAX);

}  // namespace kaiseki::dist
