// SPDX-License-Identifier: MIT
// Base64; what decodes must decode again after encoding.
#include "nn/io/base64.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki::nn;

KAISEKI_FUZZ(bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ByteVector decoded = decode_base64(text, "fuzz");
  if (decode_base64(encode_base64(decoded), "fuzz") != decoded) __builtin_trap();
}
