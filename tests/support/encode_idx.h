// SPDX-License-Identifier: MIT
// encode_idx(): files of IDX for tests.
#pragma once

#include "nn/io/idx.h"

namespace kaiseki::test {

inline ByteVector encode_idx(const nn::IdxArray& array) {
  ByteVector bytes = {std::byte{0}, std::byte{0}, std::byte{8},
                      static_cast<std::byte>(array.shape.rank())};
  for (int64_t dim : array.shape)
    for (int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::byte>(dim >> shift));
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return bytes;
}

}  // namespace kaiseki::test
