// SPDX-License-Identifier: MIT
#include "wasm/bindings/arrays/slices.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::wasm {
namespace {

[[noreturn]] void refuse_index(std::string_view index) {
  throw Error(
      message("slice", "expected a position, start:stop:step, None or one ..., got '", index, "'"));
}

/// Removes the text before the separator from `text`, and returns it.
std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return trimmed(part, " ");
}

int64_t position_of(std::string_view text, std::string_view index) {
  const auto position = parse_number<int64_t>(text);
  if (!position) refuse_index(index);
  return *position;
}

AxisIndex parse_index(std::string_view index) {
  const auto colons = std::count(index.begin(), index.end(), ':');
  if (colons == 0) return position_of(index, index);
  if (colons > 2) refuse_index(index);
  std::optional<int64_t> parts[3];
  std::string_view rest = index;
  for (auto& part : parts)
    if (const std::string_view text = next_part(rest, ':'); !text.empty())
      part = position_of(text, index);
  return Slice(parts[0], parts[1], parts[2].value_or(1));
}

}  // namespace

std::vector<AxisIndex> parse_slices(std::string_view text, int rank) {
  constexpr std::string_view kRest = "...";
  std::vector<AxisIndex> indices;
  std::optional<size_t> rest;  // where the axes of ... belong
  int axes = 0;                // that have an index
  for (std::string_view left = trimmed(text, " "); !left.empty();) {
    const std::string_view index = next_part(left, ',');
    if (index == kRest && !rest) {
      rest = indices.size();
    } else if (index == "None" || index == "newaxis") {
      indices.emplace_back(NewAxis);
    } else {
      indices.push_back(parse_index(index));
      ++axes;
    }
  }
  if (rest && axes < rank)
    indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(*rest),
                   static_cast<size_t>(rank - axes), AxisIndex(All));
  return indices;
}

}  // namespace kaiseki::wasm
