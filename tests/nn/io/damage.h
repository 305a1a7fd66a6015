// SPDX-License-Identifier: MIT
// What every parser must survive: files cut short, changed bytes, lengths that lie. Counts the
// largest piece of memory that is asked for meanwhile.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "matrix/error.h"
#include "matrix/random.h"
#include "nn/io/bytes.h"

namespace kaiseki::test {

/// The largest piece asked of operator new since reset_largest_allocation(), in bytes.
size_t largest_allocation();
void reset_largest_allocation();

using Parser = std::function<void(nn::ByteView)>;

/// The message of the ParseError that parse() throws; "" when it throws none.
inline std::string parse_error(const std::function<void()>& parse) {
  try {
    parse();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

/// Whether parse(file) throws a ParseError with `word` in it and asks for no more than 1 MiB at
/// once.
inline bool refuses(const Parser& parse, nn::ByteView file, std::string_view word) {
  reset_largest_allocation();
  std::string text = parse_error([&] { parse(file); });
  size_t largest = largest_allocation();
  CAPTURE(text);
  CAPTURE(largest);
  CHECK(text.find('\n') == std::string::npos);
  return text.find(word) != std::string::npos && !text.empty() && largest <= 1 << 20;
}

/// Every beginning of the file, `step` bytes apart, gives a ParseError.
inline void check_truncated(const Parser& parse, nn::ByteView file, size_t step = 1) {
  for (size_t length = 0; length < file.size(); length += step) {
    CAPTURE(length);
    CHECK(!parse_error([&] { parse(file.first(length)); }).empty());
  }
}

/// One or two bytes changed at a time: an Error or a result, and no large memory.
inline void check_changed(const Parser& parse, nn::ByteView file, int rounds) {
  Random random(1);
  nn::ByteVector changed(file.begin(), file.end());
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

inline nn::ByteVector bytes_from(std::string_view text) {
  nn::ByteView view = nn::as_bytes(text);
  return nn::ByteVector(view.begin(), view.end());
}

}  // namespace kaiseki::test
