// SPDX-License-Identifier: MIT
// Lists of pictures with labels, as Caffe and Sukiyaki use them: one line "PATH LABEL" for each
// picture.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "nn/data/class_split.h"
#include "nn/data/source.h"

namespace kaiseki::nn {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxList = uint64_t{1} << 30;
constexpr int32_t kMaxLabel = 999'999;

struct PictureList {
  std::vector<std::string> paths, labels;
};

bool is_whole_number(const std::string& label) {
  const size_t first = label.starts_with('-') ? 1 : 0;
  return label.size() > first && label.find_first_not_of("0123456789", first) == label.npos;
}

int32_t number_of(const std::string& label) { return parse_number<int32_t>(label).value_or(-1); }

PictureList read_list(const fs::path& file) {
  const ByteVector bytes = read_file(file, kMaxList);
  const std::string_view text = as_text(bytes);
  PictureList list;
  int64_t number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t last = line.find_last_not_of(" \t\r");
    if (last == line.npos) continue;
    line = line.substr(0, last + 1);
    const std::string where = "line " + std::to_string(number + 1);
    const size_t space = line.find_last_of(" \t");
    const size_t path_end = space == line.npos ? space : line.find_last_not_of(" \t", space);
    if (path_end == line.npos)
      throw ParseError(file.string(), where,
                       "expected PATH LABEL, got '" + std::string(line.substr(0, 80)) + "'");
    const std::string path(line.substr(0, path_end + 1));
    std::error_code error;
    if (!fs::is_regular_file(file.parent_path() / path, error))
      throw ParseError(file.string(), where, "expected a picture file, got none at " + path);
    list.paths.push_back(path);
    const std::string& label = list.labels.emplace_back(line.substr(space + 1));
    if (is_whole_number(label) && (number_of(label) < 0 || number_of(label) > kMaxLabel))
      throw ParseError(file.string(), where,
                       text_from("expected a number from 0 to ", kMaxLabel, " or a name, got ",
                                 label.substr(0, 80)));
  }
  return list;
}

/// Class i has the label i if all labels are numbers. Otherwise the labels are sorted.
std::map<std::string, int32_t> classes_of(const std::set<std::string>& labels) {
  const bool numbers = std::ranges::all_of(labels, is_whole_number);
  std::map<std::string, int32_t> classes;
  for (const std::string& label : labels)
    classes[label] = numbers ? number_of(label) : static_cast<int32_t>(classes.size());
  return classes;
}

ClassSplit split_of(const PictureList& list, const std::map<std::string, int32_t>& classes) {
  ClassSplit split;
  for (const auto& [label, number] : classes) {
    const auto size = static_cast<size_t>(number) + 1;
    for (size_t i = split.class_names.size(); i < size; ++i)
      split.class_names.push_back(std::to_string(i));
    split.class_names[static_cast<size_t>(number)] = label;
  }
  for (size_t i = 0; i < list.paths.size(); ++i)
    split.items.push_back({i, classes.at(list.labels[i])});
  return split;
}

fs::path test_list(const fs::path& folder) {
  const fs::path test = folder / "test.txt";
  return fs::exists(test) ? test : folder / "val.txt";
}

void add_labels(const PictureList& list, std::set<std::string>& labels) {
  labels.insert(list.labels.begin(), list.labels.end());
}

}  // namespace

bool is_list_folder(const fs::path& folder) {
  return fs::is_regular_file(folder / "train.txt") && fs::is_regular_file(test_list(folder));
}

PictureSourcePtr open_list_folder(const fs::path& folder, bool train) {
  PictureList list = read_list(folder / "train.txt"), test = read_list(test_list(folder));
  std::set<std::string> labels;
  add_labels(list, labels);
  add_labels(test, labels);
  if (!train) list = std::move(test);
  ClassSplit split = split_of(list, classes_of(labels));
  return make_folder_pictures(std::move(split), folder, std::move(list.paths));
}

PictureSourcePtr open_picture_list(const fs::path& file, bool train) {
  PictureList list = read_list(file);
  std::set<std::string> labels;
  add_labels(list, labels);
  ClassSplit split = split_of(list, classes_of(labels));
  keep_part(split.items, train);
  return make_folder_pictures(std::move(split), file.parent_path(), std::move(list.paths));
}

}  // namespace kaiseki::nn
