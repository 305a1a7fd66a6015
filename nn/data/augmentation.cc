// SPDX-License-Identifier: MIT
#include "nn/data/augmentation.h"

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::nn {
namespace {

/// Returns false for an unknown part.
bool add_part(std::string_view part, Preprocessing& how) {
  constexpr std::string_view kPadded = "crop:";
  if (part == "flip") return how.flip = true;
  how.random_crop = true;
  how.padding = how.resize ? 0 : 4;
  if (part == "crop") return true;
  if (!part.starts_with(kPadded)) return false;
  how.padding = parse_number<int>(part.substr(kPadded.size())).value_or(-1);
  return how.padding >= 0 && how.padding <= kMaxPictureSide;
}

bool add_parts(std::string_view text, Preprocessing& how) {
  if (text == "none") return true;
  for (;;) {
    const size_t comma = text.find(',');
    if (!add_part(text.substr(0, comma), how)) return false;
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_augmentation(std::string_view text) {
  Preprocessing how;
  return add_parts(text, how);
}

void set_augmentation(std::string_view text, Preprocessing& how) {
  if (!add_parts(text, how))
    throw Error(message("augmentation", "expected ", kAugmentations, ", got '", text, "'"));
}

}  // namespace kaiseki::nn
