// SPDX-License-Identifier: MIT
// KAISEKI_FUZZ(bytes) { ... } is one target of libFuzzer: bad input may end it in an Error and in
// nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/error.h"
#include "nn/io/bytes.h"

void fuzz_one(kaiseki::nn::ByteView bytes);

#define KAISEKI_FUZZ(bytes)                                                 \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    try {                                                                   \
      fuzz_one({reinterpret_cast<const std::byte*>(data), size});           \
    } catch (const kaiseki::Error&) {                                       \
    }                                                                       \
    return 0;                                                               \
  }                                                                         \
  void fuzz_one(kaiseki::nn::ByteView bytes)
