// SPDX-License-Identifier: MIT
// Splits the pictures of a folder tree into training and testing, and finds their classes. Internal
// to nn/data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

struct ClassSplit {
  std::vector<std::string> class_names;  // sorted
  struct Item {
    size_t path;  // index into `paths`
    int32_t label;
  };
  std::vector<Item> items;  // of the requested part, in the order of paths
};

/// Returns whether the name has the suffix of a JPEG or PNG.
bool is_picture_name(std::string_view path);

/// `paths` are ".../[train|test|val/]CLASS/picture". If there are train and test (or val) folders,
/// they are the parts. Otherwise every tenth picture of a class, in the order of paths, is for
/// testing. If a class has fewer than ten pictures, its last picture is for testing. If it has one
/// picture, the picture is in both parts. Throws Error with `source` if the part is empty.
ClassSplit split_by_class(const std::vector<std::string>& paths, bool train,
                          std::string_view source);

}  // namespace kaiseki::nn
