// SPDX-License-Identifier: MIT
// The classes of data sets and weights. They are compared by name, so that classes are not
// confused.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/data/dataset.h"
#include "nn/train/extension.h"

namespace kaiseki::cli {

/// The data set's names for a file's metadata. Control characters and bytes that are not UTF-8 are
/// written as \xe9.
std::vector<std::string> class_names_of(const nn::Dataset& data);
/// Whether the names are just 0, 1, 2 ..., or there are no names.
bool are_numbers(const std::vector<std::string>& names);
/// Whether labels of `own` can be converted to `names`. They can if `names` has all own names. They
/// also can if one list has only numbers and both have the same length.
bool classes_fit(const std::vector<std::string>& own, const std::vector<std::string>& names);

/// Returns the data set with labels as indices into `names`. Without names, returns it unchanged.
/// Throws Error with both lists unless classes_fit(). `source` is the user's name for the data.
std::shared_ptr<const nn::Dataset> in_classes(std::shared_ptr<const nn::Dataset> data,
                                              const std::vector<std::string>& names,
                                              const std::string& source);

/// Checks that a resumed run has the same classes as before.
class SameClasses : public nn::Extension {
 public:
  explicit SameClasses(std::vector<std::string> names) : names_(std::move(names)) {}
  /// Throws Error with both lists if the checkpoint has other classes.
  void restore(const nn::Metadata& state) override;

 private:
  std::vector<std::string> names_;
};

}  // namespace kaiseki::cli
