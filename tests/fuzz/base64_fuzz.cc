// SPDX-License-Identifier: MIT
// Base64. Decoded bytes must be the same after encoding and decoding.
#include "base/base64.h"
#include "tests/fuzz/fuzz.h"

using namespace kaiseki;

KAISEKI_FUZZ(bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ByteVector decoded = decode_base64(text, "fuzz");
  if (decode_base64(encode_base64(decoded), "fuzz") != decoded) __builtin_trap();
}
