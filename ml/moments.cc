// SPDX-License-Identifier: MIT
#include "ml/moments.h"

#include <algorithm>
#include <limits>

#include "matrix/ceil_div.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kHostRows = 1024, kDeviceRows = 16384;

void add_rows(const float* x, int64_t rows, int64_t columns, double* sums) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) sums[j] += x[i * columns + j];
}

ColumnMoments moments_of_rows(const float* x, int64_t rows, int64_t columns) {
  ColumnMoments m{rows, std::vector<double>(static_cast<size_t>(columns)),
                  std::vector<double>(static_cast<size_t>(columns))};
  double *mean = m.mean.data(), *squares = m.squares.data();
  add_rows(x, rows, columns, mean);
  for (int64_t j = 0; j < columns; ++j) mean[j] /= static_cast<double>(rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const double deviation = x[i * columns + j] - mean[j];
      squares[j] += deviation * deviation;
    }
  return m;
}

/// The device computes in f32, around a mean that is rounded. The sum of the deviations corrects
/// that mean.
ColumnMoments moments_of_block(const Tensor& x) {
  const Tensor center = mean(x, {0}, true);
  const Tensor deviation = x - center;
  const std::vector<float> middle = center.to_vector(), sums = sum(deviation, {0}).to_vector(),
                           squares = reduce(Reduction::sum_of_squares, deviation, {0}).to_vector();
  const auto n = static_cast<double>(x.dim(0));
  ColumnMoments m{x.dim(0), {}, {}};
  for (size_t j = 0; j < middle.size(); ++j) {
    const double rest = sums[j] / n;
    m.mean.push_back(middle[j] + rest);
    m.squares.push_back(std::max(0.0, squares[j] - n * rest * rest));
  }
  return m;
}

}  // namespace

void ColumnMoments::merge(const ColumnMoments& other) {
  if (count == 0) {
    *this = other;
    return;
  }
  const auto a = static_cast<double>(count), b = static_cast<double>(other.count);
  for (size_t j = 0; j < mean.size(); ++j) {
    const double difference = other.mean[j] - mean[j];
    mean[j] += difference * (b / (a + b));
    squares[j] += other.squares[j] + difference * difference * (a * b / (a + b));
  }
  count += other.count;
}

bool ColumnMoments::is_constant(size_t column) const {
  const double n = static_cast<double>(count), eps = std::numeric_limits<double>::epsilon();
  const double v = variance(column), error = n * mean[column] * eps;
  return v <= n * eps * v + error * error;
}

ColumnMoments column_moments(const Tensor& x) {
  const int64_t n = x.dim(0), columns = x.dim(1);
  ColumnMoments all;
  if (!x.device().is_cpu()) {
    for (int64_t begin = 0; begin < n; begin += kDeviceRows)
      all.merge(moments_of_block(x.slice(0, begin, std::min(kDeviceRows, n - begin))));
    return all;
  }
  const Tensor rows = x.contiguous();
  const float* first = rows.data<float>();
  std::vector<ColumnMoments> pieces(static_cast<size_t>(ceil_div(n, kHostRows)));
  parallel_for(n, kHostRows, [&](int64_t begin, int64_t end) {
    pieces[static_cast<size_t>(begin / kHostRows)] =
        moments_of_rows(first + begin * columns, end - begin, columns);
  });
  for (const ColumnMoments& piece : pieces) all.merge(piece);
  return all;
}

std::vector<double> column_means(const Tensor& x) {
  if (!x.device().is_cpu()) return column_moments(x).mean;
  const int64_t n = x.dim(0), columns = x.dim(1);
  const Tensor rows = x.contiguous();
  const float* first = rows.data<float>();
  std::vector<double> means(static_cast<size_t>(columns));
  std::vector<std::vector<double>> pieces(static_cast<size_t>(ceil_div(n, kHostRows)), means);
  parallel_for(n, kHostRows, [&](int64_t begin, int64_t end) {
    add_rows(first + begin * columns, end - begin, columns,
             pieces[static_cast<size_t>(begin / kHostRows)].data());
  });
  for (const std::vector<double>& piece : pieces)
    for (size_t j = 0; j < means.size(); ++j) means[j] += piece[j];
  for (double& mean : means) mean /= static_cast<double>(n);
  return means;
}

}  // namespace kaiseki::ml
