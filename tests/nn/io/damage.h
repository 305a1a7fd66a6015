// SPDX-License-Identifier: MIT
// Checks parsers with truncated files, changed bytes and wrong lengths. Records the largest
// allocation.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "matrix/random.h"

namespace kaiseki::test {

/// The largest allocation by operator new since reset_largest_allocation(), in bytes.
size_t largest_allocation();
void reset_largest_allocation();

using Parser = std::function<void(ByteView)>;

/// Returns the message of the ParseError that parse() throws, or "" if it throws none.
inline std::string parse_error(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

/// Whether parse(file) throws a ParseError that contains `word`, without an allocation above 1 MiB.
inline bool refuses(const Parser& parse, ByteView file, std::string_view word) {
  reset_largest_allocation();
  std::string text = parse_error([&] { parse(file); });
  size_t largest = largest_allocation();
  CAPTURE(text);
  CAPTURE(largest);
  CHECK(text.find('\n') == std::string::npos);
  return text.find(word) != std::string::npos && !text.empty() && largest <= 1 << 20;
}

/// Checks that truncated files throw ParseError. The lengths are `step` bytes apart.
inline void check_truncated(const Parser& parse, ByteView file, size_t step = 1) {
  for (size_t length = 0; length < file.size(); length += step) {
    CAPTURE(length);
    CHECK(!parse_error([&] { parse(file.first(length)); }).empty());
  }
}

/// Changes one or two bytes at a time. Checks that parse() throws Error or returns, without large
/// allocations.
inline void check_changed(const Parser& parse, ByteView file, int rounds) {
  Random random(1);
  ByteVector changed(file.begin(), file.end());
  reset_largest_allocation();
  for (int round = 0; round < rounds; ++round) {
    size_t at[2];
    for (size_t& i : at) {
      i = random.below(random.uniform() < 0.7f ? std::min<size_t>(changed.size(), 128)
                                               : changed.size());
      changed[i] = static_cast<std::byte>(random.next());
    }
    try {
      parse(changed);
    } catch (const Error&) {
    }
    for (size_t i : at) changed[i] = file[i];
  }
  CHECK(largest_allocation() <= (1 << 20) + file.size());
}

/// Flips each bit of the file. Checks that parse() throws ParseError, or returns the result of the
/// whole file. Returns the number of flips that parse() accepted.
inline int count_accepted_flips(const std::function<std::string(ByteView)>& parse, ByteView file) {
  const std::string whole = parse(file);
  ByteVector damaged(file.begin(), file.end());
  int accepted = 0;
  for (size_t at = 0; at < file.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      damaged[at] ^= std::byte{1} << bit;
      try {
        const std::string found = parse(damaged);
        CAPTURE(at);
        CHECK(found == whole);
        ++accepted;
      } catch (const ParseError&) {
      }
      damaged[at] ^= std::byte{1} << bit;
    }
  return accepted;
}

inline ByteVector bytes_from(std::string_view text) {
  ByteView view = as_bytes(text);
  return ByteVector(view.begin(), view.end());
}

}  // namespace kaiseki::test
