// SPDX-License-Identifier: MIT
#include "nn/sukiyaki2_data.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiseki::nn {

bool Sukiyaki2Data::reads(const std::string& type) {
  return type == "data" || type == "blob_data" || type == "mnist_data" ||
         type == "data_augmentation";
}

void Sukiyaki2Data::fail(const std::string& path, const std::string& expected,
                         const std::string& found) const {
  throw ParseError(source_, path, "expected " + expected + ", got " + found);
}

Shape Sukiyaki2Data::sizes(LayerParams& params, const char* key, int least, int most) const {
  Shape shape;
  const Json* list = params.optional(key);
  if (!list) return shape;
  const auto fits = [](const Json& size) {
    return size.is_integer() && size.number >= 1 && size.number <= kMaxDimension;
  };
  const auto count = static_cast<int>(std::min<size_t>(list->items.size(), 100));
  if (!list->is(Json::Kind::array) || count < least || count > most ||
      !std::ranges::all_of(list->items, fits))
    params.fail(key, "a list of sizes", list->describe());
  for (const Json& size : list->items) shape.push_back(static_cast<int64_t>(size.number));
  return shape;
}

/// The layers of the two phases define the same blob. Both must give the same shape.
void Sukiyaki2Data::define(const std::string& blob, const Shape& shape, const std::string& path) {
  const auto [at, is_new] = pictures_.emplace(blob, shape);
  if (!is_new && at->second != shape)
    fail(path, "pictures of shape " + at->second.str() + " in " + blob, shape.str());
}

void Sukiyaki2Data::read(const std::string& type, const std::string& path,
                         const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, LayerParams& params) {
  if (outputs.empty()) fail(path + ".outputs", "a name", "none");
  if (type == "data_augmentation") {
    if (inputs.empty()) fail(path + ".inputs", "a name", "none");
    return augment(path, inputs[0], outputs[0], params);
  }
  const Shape given = sizes(params, "data_shape", 1, 3);  // height, width, channels
  Shape shape = {0, 0, 0};
  if (type == "mnist_data") shape = {1, 28, 28};
  if (given.rank() == 1) shape = given;
  if (given.rank() == 2) shape = {1, given[0], given[1]};
  if (given.rank() == 3) shape = {given[2], given[0], given[1]};
  for (const char* unused : {"data", "label", "file_prefix", "data_klass"}) params.optional(unused);
  define(outputs[0], shape, path);
  for (size_t i = 1; i < outputs.size(); ++i) labels_[outputs[i]] = true;
}

void Sukiyaki2Data::augment(const std::string& path, const std::string& from, const std::string& to,
                            LayerParams& params) {
  const Shape out = sizes(params, "out_shape", 2, 2);
  if (out.rank() == 0) params.fail("out_shape", "[height, width]", "nothing");
  const auto whole = pictures_.find(from);
  Shape picture = {0, out[0], out[1]};
  const bool known = whole != pictures_.end() && whole->second.rank() == 3;
  if (known) picture[0] = whole->second[0];
  const bool crops = known && whole->second[1] > 0 && whole->second != picture;
  if (crops && (whole->second[1] < out[0] || whole->second[2] < out[1]))
    params.fail("out_shape", "at most the size of the picture", out.str());
  // sukiyaki2 multiplies a byte by `scale`. Its default of 0 would make every picture black.
  const double scale = params.number("scale", 1, 0, 1e6);
  if (scale == 0) params.fail("scale", "a number above 0", "0");
  if (scale_ && *scale_ != scale) params.fail("scale", "one scale in both phases", "another");
  scale_ = scale;
  recipe_.std = {1 / (255 * scale)};
  const bool random_crop = params.boolean("random_crop", false);
  const bool random_flip = params.boolean("random_flip", false);
  params.choice("input_klass", "single", {"single", "uint8"});
  if (crops) recipe_.resize = std::min(whole->second[1], whole->second[2]);
  std::string augment = random_crop && crops ? "crop" : "";
  if (random_flip) augment += augment.empty() ? "flip" : ",flip";
  if (!augment.empty()) recipe_.augment = augment;
  define(to, picture, path);
}

Shape Sukiyaki2Data::shape(const std::string& blob, const Shape& known) const {
  if (labels_.contains(blob)) return {};
  Shape shape = known;
  if (const auto found = pictures_.find(blob); found != pictures_.end()) {
    shape = found->second;
    for (int axis = 0; axis < shape.rank() && shape.rank() == known.rank(); ++axis)
      if (shape[axis] == 0) shape[axis] = known[axis];
  }
  for (const int64_t size : shape)
    if (size == 0) return {};
  return shape;
}

}  // namespace kaiseki::nn
