// SPDX-License-Identifier: MIT
#include "nn/sukiyaki_values.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/base64.h"
#include "base/error.h"
#include "base/sha256.h"

namespace kaiseki::nn {

std::vector<float> decode_floats(std::string_view base64, const std::string& source) {
  const ByteVector bytes = decode_base64(base64, source);
  if (bytes.size() % sizeof(float) != 0)
    throw ParseError(
        source, "Base64",
        "expected whole float32 values, got " + std::to_string(bytes.size()) + " bytes");
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string encode_floats(const std::vector<float>& values) {
  return encode_base64(std::as_bytes(std::span(values)));
}

std::string checksum_of(const std::vector<float>& w, const std::vector<float>& b) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(w)));
  hash.update(std::as_bytes(std::span(b)));
  return hash.finish();
}

bool bias_per_channel(std::vector<float>& values, size_t channels) {
  if (channels == 0 || values.size() % channels != 0 || values.empty()) return false;
  const size_t positions = values.size() / channels;
  std::vector<float> result;
  for (size_t c = 0; c < channels; ++c) {
    const float* first = &values[c * positions];
    for (size_t i = 1; i < positions; ++i)
      if (std::bit_cast<uint32_t>(*first) != std::bit_cast<uint32_t>(first[i])) return false;
    result.push_back(*first);
  }
  values = std::move(result);
  return true;
}

}  // namespace kaiseki::nn
