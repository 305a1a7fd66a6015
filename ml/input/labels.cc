// SPDX-License-Identifier: MIT
#include "ml/input/labels.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "matrix/ops/check.h"
#include "matrix/ops/index.h"

namespace kaiseki::ml {
namespace {

std::vector<int32_t> read_values(const Tensor& y, int64_t samples, std::string_view name) {
  check_tensor(y, "y", name, DType::i32);
  require(y.rank() == 1 && y.dim(0) == samples, name, "expected y of shape [", samples,
          "], one label for each sample, got ", y.shape());
  return y.to_vector<int32_t>();
}

}  // namespace

ClassLabels read_labels(const Tensor& y, int64_t samples, std::string_view name) {
  std::vector<int32_t> classes = read_values(y, samples, name);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return read_labels(y, samples, std::move(classes), name);
}

ClassLabels read_labels(const Tensor& y, int64_t samples, std::vector<int32_t> classes,
                        std::string_view name) {
  ClassLabels labels{std::move(classes), read_values(y, samples, name)};
  for (int32_t& value : labels.numbers) {
    const auto place = std::lower_bound(labels.classes.begin(), labels.classes.end(), value);
    if (place == labels.classes.end() || *place != value)
      throw Error(message(name, "expected labels of the classes of fit(), got ", value));
    value = static_cast<int32_t>(place - labels.classes.begin());
  }
  return labels;
}

Tensor labels_of(const std::vector<int32_t>& classes, const Tensor& numbers) {
  const auto count = static_cast<int64_t>(classes.size());
  return take(Tensor::from(std::span<const int32_t>(classes), {count}, numbers.device()), numbers,
              0);
}

double accuracy_of(const Tensor& predicted, const Tensor& y, std::string_view name) {
  const std::vector<int32_t> expected = read_values(y, predicted.dim(0), name);
  const std::vector<int32_t> actual = predicted.to_vector<int32_t>();
  int64_t right = 0;
  for (size_t i = 0; i < actual.size(); ++i) right += actual[i] == expected[i];
  return static_cast<double>(right) / static_cast<double>(predicted.dim(0));
}

}  // namespace kaiseki::ml
