// SPDX-License-Identifier: MIT
// KAISEKI_FUZZ(bytes) { ... } defines a target of libFuzzer. For bad input it may only throw Error.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"

void fuzz_one(kaiseki::ByteView bytes);

#define KAISEKI_FUZZ(bytes)                                                 \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { \
    try {                                                                   \
      fuzz_one({reinterpret_cast<const std::byte*>(data), size});           \
    } catch (const kaiseki::Error&) {                                       \
    }                                                                       \
    return 0;                                                               \
  }                                                                         \
  void fuzz_one(kaiseki::ByteView bytes)
