// SPDX-License-Identifier: MIT
#include "nn/data/class_split.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"

namespace kaiseki::nn {
namespace {

enum class DataPart { none, train, test, validation };

struct PicturePlace {
  DataPart part = DataPart::none;
  std::string class_name;
};

DataPart part_of(std::string_view folder) {
  if (folder == "train" || folder == "training") return DataPart::train;
  if (folder == "test" || folder == "testing") return DataPart::test;
  if (folder == "val" || folder == "valid" || folder == "validation") return DataPart::validation;
  return DataPart::none;
}

/// Removes the last component of `path` and returns it.
std::string_view take_last(std::string_view& path) {
  size_t slash = path.rfind('/');
  std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  return last;
}

PicturePlace place_of(std::string_view path) {
  PicturePlace place;
  take_last(path);
  place.class_name = take_last(path);
  place.part = part_of(take_last(path));
  return place;
}

}  // namespace

bool is_picture_name(std::string_view path) {
  std::string_view name = take_last(path);
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || name.starts_with("._")) return false;
  std::string suffix(name.substr(dot + 1));
  for (char& c : suffix) c = static_cast<char>(c | 0x20);
  return suffix == "jpg" || suffix == "jpeg" || suffix == "png";
}

void keep_part(std::vector<ClassSplit::Item>& items, bool train) {
  struct Count {
    int64_t all = 0, seen = 0;
  };
  std::map<int32_t, Count> classes;
  for (const ClassSplit::Item& item : items) ++classes[item.label].all;
  std::erase_if(items, [&](const ClassSplit::Item& item) {
    Count& count = classes[item.label];
    const int64_t index = count.seen++;
    const bool tenth = index % 10 == 9 || (count.all < 10 && index == count.all - 1);
    return tenth == train && count.all > 1;
  });
}

ClassSplit split_by_class(const std::vector<std::string>& paths, bool train,
                          std::string_view source) {
  std::vector<size_t> order(paths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return paths[a] < paths[b]; });

  std::vector<PicturePlace> places;
  bool has[4] = {};
  std::map<std::string, int32_t> classes;
  for (const std::string& path : paths) {
    places.push_back(place_of(path));
    has[static_cast<int>(places.back().part)] = true;
    classes[places.back().class_name] = 0;
  }
  if (classes.count(""))
    throw Error(message("data", "expected one folder of pictures for each class in ", source,
                        ", got pictures without a folder"));
  ClassSplit split;
  for (auto& [name, label] : classes) {
    label = static_cast<int32_t>(split.class_names.size());
    split.class_names.push_back(name);
  }
  DataPart held_out = has[static_cast<int>(DataPart::test)] ? DataPart::test : DataPart::validation;
  bool by_folder = has[static_cast<int>(DataPart::train)] && has[static_cast<int>(held_out)];
  for (size_t i : order)
    if (!by_folder || places[i].part == (train ? DataPart::train : held_out))
      split.items.push_back({i, classes.at(places[i].class_name)});
  if (!by_folder) keep_part(split.items, train);
  if (split.items.empty())
    throw Error(message("data", "expected pictures (.jpg, .jpeg, .png) for ",
                        train ? "training" : "testing", " in ", source, ", got none"));
  return split;
}

}  // namespace kaiseki::nn
