// SPDX-License-Identifier: MIT
#include "cli/weights_info.h"

#include <charconv>

#include "base/text.h"
#include "cli/text.h"
#include "nn/data/picture.h"

namespace kaiseki::cli {
namespace {

std::string floats_text(const std::vector<float>& values) {
  std::string text;
  for (float value : values) {
    char buffer[40];
    if (!text.empty()) text += ',';
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  return text;
}

std::vector<float> parse_floats(const std::string& text) {
  std::vector<float> values;
  for (const std::string& part : split(text, ','))
    if (const auto value = parse_number<float>(part)) values.push_back(*value);
  return values;
}

}  // namespace

nn::Metadata to_metadata(const WeightsInfo& info) {
  nn::Metadata metadata;
  if (!info.class_names.empty()) metadata["class_names"] = join(info.class_names, "\n");
  if (!info.mean.empty()) metadata["mean"] = floats_text(info.mean);
  if (!info.std.empty()) metadata["std"] = floats_text(info.std);
  if (info.resize) metadata["resize"] = std::to_string(info.resize);
  return metadata;
}

WeightsInfo from_metadata(const nn::Metadata& metadata) {
  auto value = [&](const char* key) {
    auto at = metadata.find(key);
    return at == metadata.end() ? std::string() : at->second;
  };
  WeightsInfo info{split(value("class_names"), '\n'), parse_floats(value("mean")),
                   parse_floats(value("std"))};
  for (std::string& name : info.class_names) name = printable(name);
  const std::string resize = value("resize");
  std::from_chars(resize.data(), resize.data() + resize.size(), info.resize);
  if (info.resize < 0 || info.resize > nn::kMaxPictureSide) info.resize = 0;
  return info;
}

}  // namespace kaiseki::cli
