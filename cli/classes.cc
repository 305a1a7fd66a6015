// SPDX-License-Identifier: MIT
#include "cli/classes.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "cli/text.h"
#include "cli/weights_info.h"

namespace kaiseki::cli {
namespace {

using Names = std::vector<std::string>;

constexpr size_t kListed = 12;  // names in a message

std::string listed(const Names& names) {
  if (names.size() <= kListed) return join(names, ", ");
  return join(Names(names.begin(), names.begin() + kListed), ", ") + ", ... (" +
         std::to_string(names.size()) + ")";
}

/// Returns the index in `names` of each own name, or nothing if `names` lacks one.
std::optional<std::vector<int32_t>> places(const Names& own, const Names& names) {
  std::vector<int32_t> result;
  for (const std::string& name : own) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    result.push_back(static_cast<int32_t>(at - names.begin()));
  }
  return result;
}

class Relabeled : public nn::Dataset {
 public:
  Relabeled(std::shared_ptr<const nn::Dataset> data, std::vector<int32_t> labels, Names names)
      : data_(std::move(data)), labels_(std::move(labels)), names_(std::move(names)) {}
  int64_t size() const override { return data_->size(); }
  Shape sample_shape() const override { return data_->sample_shape(); }
  int classes() const override { return static_cast<int>(names_.size()); }
  Names class_names() const override { return names_; }
  nn::Normalization normalization() const override { return data_->normalization(); }
  void read(int64_t index, uint8_t* out, int32_t& label, Random& augmentation) const override {
    data_->read(index, out, label, augmentation);
    label = labels_[static_cast<size_t>(label)];
  }
  std::optional<nn::SampleFile> file(int64_t index, Random& augmentation) const override {
    return data_->file(index, augmentation);
  }

 private:
  std::shared_ptr<const nn::Dataset> data_;
  std::vector<int32_t> labels_;
  Names names_;
};

}  // namespace

Names class_names_of(const nn::Dataset& data) {
  Names names = data.class_names();
  for (std::string& name : names) name = printable(name);
  return names;
}

bool are_numbers(const Names& names) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != std::to_string(i)) return false;
  return true;
}

bool classes_fit(const Names& own, const Names& names) {
  return places(own, names) ||
         (own.size() == names.size() && (are_numbers(own) || are_numbers(names)));
}

std::shared_ptr<const nn::Dataset> in_classes(std::shared_ptr<const nn::Dataset> data,
                                              const Names& names, const std::string& source) {
  const Names own = class_names_of(*data);
  if (names.empty() || own == names) return data;
  if (!classes_fit(own, names))
    throw Error(source + ": expected the weights' classes, " + listed(names) + ", got " +
                listed(own));
  auto labels = places(own, names);
  if (!labels) return data;
  return std::make_shared<Relabeled>(std::move(data), std::move(*labels), names);
}

void SameClasses::restore(const nn::Metadata& state) {
  const Names before = from_metadata(state).class_names;
  if (!before.empty() && before != names_)
    throw Error(message("checkpoint", "expected the classes of this run, ", listed(names_),
                        ", got ", listed(before)));
}

}  // namespace kaiseki::cli
