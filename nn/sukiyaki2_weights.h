// SPDX-License-Identifier: MIT
// sukiyaki2's files of weights: JSON {"layer/parameter": {"offset", "size"}}, zeros up to a
// multiple of 1024 bytes, then little-endian float32. The first index of an array is the fastest
// there.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"
#include "nn/network.h"

namespace kaiseki::nn {

/// Whether the bytes begin with a JSON object that ends in a zero byte.
bool is_sukiyaki2_weights(ByteView bytes);
/// Returns the tensors under our names, in our order of elements. The layers of `network` tell the
/// order. A tensor that does not fit its layer is [elements]. Throws ParseError.
std::vector<NamedTensor> read_sukiyaki2_weights(ByteView bytes, const Network& network,
                                                const std::string& source);

}  // namespace kaiseki::nn
