// SPDX-License-Identifier: MIT
// Which pictures of a tree belong to training and which to testing, and their classes. Inside
// nn/data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

struct ClassSplit {
  std::vector<std::string> class_names;  // sorted
  struct Item {
    size_t path;  // index into the paths given
    int32_t label;
  };
  std::vector<Item> items;  // of the part asked for, in the order of paths
};

/// Whether the name ends like a JPEG or PNG.
bool is_picture_name(std::string_view path);

/// `paths` are ".../[train|test|val/]CLASS/picture". With a train and a test (or val) folder the
/// part is what lies in it. Without, every tenth picture of a class, in the order of paths, is for
/// testing, or the last one of fewer than ten; a single one is in both parts. Throws
/// Error(`source`) when nothing is left.
ClassSplit split_by_class(const std::vector<std::string>& paths, bool train,
                          std::string_view source);

}  // namespace kaiseki::nn
