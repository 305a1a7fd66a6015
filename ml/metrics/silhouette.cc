// SPDX-License-Identifier: MIT
// Distances come from products in double, in blocks. In float, the distance of close samples would
// lose most of its digits.
#include "ml/metrics/silhouette.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/linalg/matrix_view.h"
#include "matrix/threads.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kRows = 64, kColumns = 512;

/// Rows of x as doubles, and their squared norms.
struct WideRows {
  WideRows(const Tensor& x, const std::vector<double>& center, int64_t begin, int64_t count)
      : values(count, x.dim(1)), norms(static_cast<size_t>(count)) {
    const int64_t features = x.dim(1);
    for (int64_t i = 0; i < count; ++i) {
      const float* from = x.data<float>() + (begin + i) * features;
      double* to = values.view().row(i);
      double norm = 0;
      for (int64_t j = 0; j < features; ++j) {
        to[j] = from[j] - center[static_cast<size_t>(j)];
        norm += to[j] * to[j];
      }
      norms[static_cast<size_t>(i)] = norm;
    }
  }
  linalg::Dense<double> values;
  std::vector<double> norms;
};

std::vector<double> column_means(const Tensor& x) {
  std::vector<double> means(static_cast<size_t>(x.dim(1)));
  const float* row = x.data<float>();
  for (int64_t i = 0; i < x.dim(0); ++i, row += x.dim(1))
    for (size_t j = 0; j < means.size(); ++j) means[j] += row[j];
  for (double& mean : means) mean /= static_cast<double>(x.dim(0));
  return means;
}

/// Adds the distances of these rows to all samples: sums[row * clusters + cluster].
void add_distances(const Tensor& x, const std::vector<double>& center, const LabelCodes& labels,
                   int64_t begin, int64_t count, std::vector<double>& sums) {
  const int64_t n = x.dim(0);
  const size_t clusters = labels.classes.size();
  WideRows rows(x, center, begin, count);
  for (int64_t first = 0; first < n; first += kColumns) {
    const int64_t width = std::min(kColumns, n - first);
    WideRows columns(x, center, first, width);
    linalg::Dense<double> products(count, width);
    linalg::multiply(1, linalg::Factor<double>{rows.values.view()},
                     linalg::Factor<double>{columns.values.view(), true}, 0, products.view());
    for (int64_t i = 0; i < count; ++i) {
      double* to = sums.data() + static_cast<size_t>(i) * clusters;
      const double* product = products.view().row(i);
      for (int64_t j = 0; j < width; ++j) {
        if (begin + i == first + j) continue;
        const double square = rows.norms[static_cast<size_t>(i)] +
                              columns.norms[static_cast<size_t>(j)] - 2 * product[j];
        to[labels.codes[static_cast<size_t>(first + j)]] += std::sqrt(std::max(0.0, square));
      }
    }
  }
}

/// The silhouette of a sample of the cluster `own`.
double silhouette(const double* sums, const std::vector<int64_t>& sizes, size_t own) {
  if (sizes[own] == 1) return 0;
  const double a = sums[own] / static_cast<double>(sizes[own] - 1);
  double b = std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < sizes.size(); ++c)
    if (c != own) b = std::min(b, sums[c] / static_cast<double>(sizes[c]));
  const double larger = std::max(a, b);
  return larger > 0 ? (b - a) / larger : 0;
}

std::vector<double> silhouettes(const Tensor& x, const Tensor& y, std::string_view name) {
  check_samples(x, name);
  const int64_t n = x.dim(0);
  const LabelCodes labels = encode_labels(read_labels(y, n, name));
  const auto clusters = static_cast<int64_t>(labels.classes.size());
  require(clusters >= 2 && clusters < n, name, "expected 2 to n - 1 clusters for n = ", n,
          " samples, got ", clusters);
  std::vector<int64_t> sizes(labels.classes.size());
  for (int32_t code : labels.codes) ++sizes[static_cast<size_t>(code)];
  const Tensor host = on_host(x);
  const std::vector<double> center = column_means(host);
  std::vector<double> result(static_cast<size_t>(n));
  parallel_for(n, kRows, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>((end - begin) * clusters));
    add_distances(host, center, labels, begin, end - begin, sums);
    for (int64_t i = begin; i < end; ++i)
      result[static_cast<size_t>(i)] =
          silhouette(sums.data() + (i - begin) * clusters, sizes,
                     static_cast<size_t>(labels.codes[static_cast<size_t>(i)]));
  });
  return result;
}

}  // namespace

Tensor silhouette_samples(const Tensor& x, const Tensor& labels) {
  const std::vector<double> values = silhouettes(x, labels, "silhouette_samples");
  return tensor_from(values, {x.dim(0)}, x.device());
}

double silhouette_score(const Tensor& x, const Tensor& labels) {
  double total = 0;
  const std::vector<double> values = silhouettes(x, labels, "silhouette_score");
  for (double value : values) total += value;
  return total / static_cast<double>(values.size());
}

}  // namespace kaiseki::ml
