// SPDX-License-Identifier: MIT
// The classes of data sets and of weights by their names, so that a class is never taken for
// another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/data/dataset.h"
#include "nn/train/extension.h"

namespace kaiseki::cli {

/// The data set's names, fit for a file's metadata: bytes that are not UTF-8, and control
/// characters, stand as \xe9.
std::vector<std::string> class_names_of(const nn::Dataset& data);
/// Whether the names are 0, 1, 2 ..., which say nothing; so for no names.
bool are_numbers(const std::vector<std::string>& names);
/// Whether labels of `own` can be told in `names`: each own name is there, or one of the two has
/// only numbers and both are equally many.
bool classes_fit(const std::vector<std::string>& own, const std::vector<std::string>& names);

/// The data set with the labels that `names` give to its classes; without names, as it is. Throws
/// Error with both lists unless classes_fit(); `source` is what the user calls the data.
std::shared_ptr<const nn::Dataset> in_classes(std::shared_ptr<const nn::Dataset> data,
                                              const std::vector<std::string>& names,
                                              const std::string& source);

/// Keeps a run that is resumed to the classes that it began with.
class SameClasses : public nn::Extension {
 public:
  explicit SameClasses(std::vector<std::string> names) : names_(std::move(names)) {}
  /// Throws Error with both lists when the checkpoint's are others.
  void restore(const nn::Metadata& state) override;

 private:
  std::vector<std::string> names_;
};

}  // namespace kaiseki::cli
