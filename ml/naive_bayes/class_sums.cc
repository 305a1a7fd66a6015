// SPDX-License-Identifier: MIT
#include "ml/naive_bayes/class_sums.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/create.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/lazy.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

void add_product(std::vector<double>& sums, const Tensor& members, const Tensor& values) {
  const std::vector<float> product = matmul(members, values, true).to_vector<float>();
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(product[i]);
}

}  // namespace

BatchLabels batch_labels(const Tensor& y, int64_t samples, const std::vector<int32_t>& known,
                         const std::vector<int32_t>& given, std::string_view name) {
  std::vector<int32_t> classes = given;
  std::sort(classes.begin(), classes.end());
  require(std::adjacent_find(classes.begin(), classes.end()) == classes.end(), name,
          "expected different classes, got one of them twice");
  if (known.empty())
    require(!classes.empty(), name, "expected the list of all classes in the first call");
  else
    require(classes.empty() || classes == known, name,
            "expected the classes of the first call, got others");
  if (!known.empty()) classes = known;
  std::vector<int32_t> codes = encode_labels(read_labels(y, samples, name), classes, name);
  return {std::move(classes), std::move(codes)};
}

std::vector<double> class_counts(const std::vector<int32_t>& codes, size_t classes) {
  std::vector<double> counts(classes);
  for (const int32_t code : codes) ++counts[static_cast<size_t>(code)];
  return counts;
}

std::vector<double> class_sums(const Tensor& x, const std::vector<int32_t>& codes, size_t classes) {
  std::vector<double> sums(classes * static_cast<size_t>(x.dim(1)));
  const Tensor all = tensor_from(codes, x.device());
  for_each_row_block(x, [&](const Tensor& rows, int64_t begin) {
    add_product(sums, one_hot(all.slice(0, begin, rows.dim(0)), static_cast<int64_t>(classes)),
                rows);
  });
  return sums;
}

ClassMoments class_moments(const Tensor& x, const std::vector<int32_t>& codes,
                           const std::vector<double>& counts) {
  const int64_t features = x.dim(1);
  const auto classes = static_cast<int64_t>(counts.size());
  std::vector<double> means = class_sums(x, codes, counts.size());
  for (size_t i = 0; i < means.size(); ++i) {
    const double count = counts[i / static_cast<size_t>(features)];
    // The rounded mean is the origin of the second pass, which corrects it.
    means[i] = count > 0 ? static_cast<double>(static_cast<float>(means[i] / count)) : 0;
  }
  const Tensor centers = tensor_from(means, {classes, features}, x.device());
  const Tensor all = tensor_from(codes, x.device());
  std::vector<double> first(means.size()), second(means.size());
  for_each_row_block(x, [&](const Tensor& rows, int64_t begin) {
    const Tensor numbers = all.slice(0, begin, rows.dim(0));
    const Tensor members = one_hot(numbers, classes);
    const Tensor difference = rows - take(centers, numbers, 0);
    add_product(first, members, difference);
    add_product(second, members, difference * difference);
  });
  std::vector<double> variances(means.size());
  for (size_t i = 0; i < means.size(); ++i) {
    const double count = counts[i / static_cast<size_t>(features)];
    if (count == 0) continue;
    const double step = first[i] / count;
    means[i] += step;
    variances[i] = std::max(0.0, second[i] / count - step * step);
  }
  return {std::move(means), std::move(variances)};
}

void check_priors(const std::vector<double>& priors, size_t classes, std::string_view name) {
  if (priors.empty()) return;
  double sum = 0, least = 0;
  for (const double prior : priors) {
    sum += prior;
    least = std::min(least, prior);
  }
  if (priors.size() != classes || !(std::abs(sum - 1) <= 1e-6) || least < 0)
    throw Error(message(name, "expected priors of ", classes,
                        " classes, of 0 or more, with the sum 1, got ", priors.size(),
                        " with the sum ", sum));
}

}  // namespace kaiseki::ml
