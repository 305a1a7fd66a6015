// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include <array>

#include "base/error.h"

namespace kaiseki {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kSpace = 64, kPadding = 65, kInvalid = 66;

constexpr std::array<uint8_t, 256> make_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kInvalid);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<uint8_t>(i);
  for (unsigned char space : {' ', '\t', '\r', '\n'}) values[space] = kSpace;
  values['='] = kPadding;
  return values;
}

constexpr auto kValues = make_values();

}  // namespace

std::string encode_base64(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < count ? std::to_integer<uint32_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

ByteVector decode_base64(std::string_view text, std::string_view source) {
  ByteVector bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t group = 0;
  int held = 0, padding = 0;
  auto fail = [&](size_t at, std::string_view what) {
    throw ParseError(source, "character " + std::to_string(at), what);
  };
  for (size_t i = 0; i < text.size(); ++i) {
    uint8_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == kSpace) continue;
    if (value == kInvalid)
      fail(i, "byte " + std::to_string(static_cast<unsigned char>(text[i])) +
                  " is not a Base64 character");
    if (value == kPadding) {
      if (held + padding < 2 || held + padding > 3) fail(i, "expected no '=' here");
      ++padding;
      continue;
    }
    if (padding) fail(i, "expected the end after '='");
    group = group << 6 | value;
    if (++held == 4) {
      for (int shift : {16, 8, 0}) bytes.push_back(static_cast<std::byte>(group >> shift));
      group = 0, held = 0;
    }
  }
  if (held == 1 || (padding && held + padding != 4))
    fail(text.size(), "expected Base64 in groups of four, got the end of the text");
  if (held && group & ((1u << (held == 2 ? 4 : 2)) - 1))
    fail(text.size(), "the unused bits of the last character are not zero");
  if (held >= 2) bytes.push_back(static_cast<std::byte>(group >> (held == 2 ? 4 : 10)));
  if (held == 3) bytes.push_back(static_cast<std::byte>(group >> 2));
  return bytes;
}

}  // namespace kaiseki
