// SPDX-License-Identifier: MIT
// Splits the pictures of a folder tree into training and testing, and finds their classes. Internal
// to nn/data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/data/source.h"

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

/// Keeps the items of one part. Every tenth picture of a class is for
/// testing. If a class has fewer than ten pictures, its last picture is for testing. If it has one
/// picture, the picture is in both parts.
void keep_part(std::vector<ClassSplit::Item>& items, bool train);

/// `paths` are ".../[train|test|val/]CLASS/picture". If there are train and test (or val) folders,
/// they are the parts. Otherwise keep_part() splits them, in the order of paths. Throws Error with
/// `source` if the part is empty.
ClassSplit split_by_class(const std::vector<std::string>& paths, bool train,
                          std::string_view source);

/// The pictures of a split, whose paths are relative to the folder.
PictureSourcePtr make_folder_pictures(ClassSplit split, std::filesystem::path folder,
                                      std::vector<std::string> paths);

}  // namespace kaiseki::nn
