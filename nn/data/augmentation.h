// SPDX-License-Identifier: MIT
// The text that selects the random parts of preprocessing, such as "flip,crop:4".
#pragma once

#include <string_view>

#include "nn/data/picture.h"

namespace kaiseki::nn {

/// The form of such a text, for messages.
inline constexpr std::string_view kAugmentations =
    "none, or flip, crop or crop:PADDING joined by commas";

bool is_augmentation(std::string_view text);
/// Sets flip, random_crop and padding. how.resize must be set before. Throws Error.
void set_augmentation(std::string_view text, Preprocessing& how);

}  // namespace kaiseki::nn
