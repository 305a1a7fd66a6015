// SPDX-License-Identifier: MIT
// Layers as plain loops in double.
#pragma once

#include <array>

#include "tests/support/reference.h"

namespace kaiseki::test {

using Pair = std::array<int64_t, 2>;

struct ConvSizes {
  int64_t n, c, h, w, k, r, s;
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};
  int64_t groups = 1;
  Pair extra_padding{0, 0};  // at the end
  int64_t out_h() const { return out(0, h, r); }
  int64_t out_w() const { return out(1, w, s); }

 private:
  int64_t out(size_t i, int64_t side, int64_t taps) const {
    const int64_t padded = side + 2 * padding[i] + extra_padding[i];
    return (padded - dilation[i] * (taps - 1) - 1) / stride[i] + 1;
  }
};

inline Doubles convolution(const ConvSizes& z, const Doubles& x, const Doubles& filter) {
  const int64_t in = z.c / z.groups, out = z.k / z.groups;
  Doubles y;
  for (int64_t n = 0; n < z.n; ++n)
    for (int64_t k = 0; k < z.k; ++k)
      for (int64_t oh = 0; oh < z.out_h(); ++oh)
        for (int64_t ow = 0; ow < z.out_w(); ++ow) {
          double sum = 0;
          for (int64_t c = 0; c < in; ++c)
            for (int64_t r = 0; r < z.r; ++r)
              for (int64_t s = 0; s < z.s; ++s) {
                const int64_t ih = oh * z.stride[0] + r * z.dilation[0] - z.padding[0];
                const int64_t iw = ow * z.stride[1] + s * z.dilation[1] - z.padding[1];
                if (ih < 0 || ih >= z.h || iw < 0 || iw >= z.w) continue;
                const int64_t channel = k / out * in + c;
                sum += x[static_cast<size_t>(((n * z.c + channel) * z.h + ih) * z.w + iw)] *
                       filter[static_cast<size_t>(((k * in + c) * z.r + r) * z.s + s)];
              }
          y.push_back(sum);
        }
  return y;
}

/// Adds bias[i / inner % bias.size()].
inline Doubles with_bias(Doubles y, const Doubles& bias, int64_t inner) {
  for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<size_t>(inner) % bias.size()];
  return y;
}

struct PoolingSizes {
  int64_t planes, h, w, out_h, out_w;
  Pair window, stride, padding{0, 0};
  bool maximum = true, count_padding = false;
};

inline Doubles pooling(const PoolingSizes& z, const Doubles& x) {
  Doubles y;
  for (int64_t p = 0; p < z.planes; ++p)
    for (int64_t oh = 0; oh < z.out_h; ++oh)
      for (int64_t ow = 0; ow < z.out_w; ++ow) {
        double most = -1e300, sum = 0;
        int64_t inside = 0;
        for (int64_t r = 0; r < z.window[0]; ++r)
          for (int64_t s = 0; s < z.window[1]; ++s) {
            const int64_t ih = oh * z.stride[0] + r - z.padding[0];
            const int64_t iw = ow * z.stride[1] + s - z.padding[1];
            if (ih < 0 || ih >= z.h || iw < 0 || iw >= z.w) continue;
            const double value = x[static_cast<size_t>((p * z.h + ih) * z.w + iw)];
            most = std::max(most, value);
            sum += value;
            ++inside;
          }
        const double count =
            static_cast<double>(z.count_padding ? z.window[0] * z.window[1] : inside);
        y.push_back(z.maximum ? most : sum / count);
      }
  return y;
}

/// x [n, inputs] times W [outputs, inputs] transposed.
inline Doubles linear(const Doubles& x, const Doubles& w, int64_t inputs) {
  const auto in = static_cast<size_t>(inputs);
  Doubles y;
  for (size_t row = 0; row < x.size() / in; ++row)
    for (size_t o = 0; o < w.size() / in; ++o) {
      double sum = 0;
      for (size_t i = 0; i < in; ++i) sum += x[row * in + i] * w[o * in + i];
      y.push_back(sum);
    }
  return y;
}

inline Doubles map(Doubles values, const std::function<double(double)>& f) {
  for (double& value : values) value = f(value);
  return values;
}

inline double relu(double x) { return x > 0 ? x : 0; }
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// Softmax over the middle of [n, classes, inner].
inline Doubles softmax_of(Doubles x, int64_t classes, int64_t inner = 1) {
  const auto c = static_cast<size_t>(classes), step = static_cast<size_t>(inner);
  for (size_t first = 0; first < x.size(); ++first) {
    if (first / step % c != 0) continue;
    double most = -1e300, sum = 0;
    for (size_t i = 0; i < c; ++i) most = std::max(most, x[first + i * step]);
    for (size_t i = 0; i < c; ++i) sum += std::exp(x[first + i * step] - most);
    for (size_t i = 0; i < c; ++i) x[first + i * step] = std::exp(x[first + i * step] - most) / sum;
  }
  return x;
}

inline double cross_entropy_of(const Doubles& logits, const std::vector<int32_t>& labels) {
  const size_t classes = logits.size() / labels.size();
  const Doubles p = softmax_of(logits, static_cast<int64_t>(classes));
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    sum -= std::log(p[i * classes + static_cast<size_t>(labels[i])]);
  return sum / static_cast<double>(labels.size());
}

/// Batch normalization of [n, c, inner] with the batch's statistics.
inline Doubles batch_norm(Doubles x, int64_t c, int64_t inner, const Doubles& weight,
                          const Doubles& bias, double eps) {
  const auto channels = static_cast<size_t>(c), step = static_cast<size_t>(inner);
  const double count = static_cast<double>(x.size() / channels);
  for (size_t k = 0; k < channels; ++k) {
    double mean = 0, variance = 0;
    auto each = [&](const std::function<void(double&)>& f) {
      for (size_t i = 0; i < x.size(); ++i)
        if (i / step % channels == k) f(x[i]);
    };
    each([&](double& v) { mean += v / count; });
    each([&](double& v) { variance += (v - mean) * (v - mean) / count; });
    each([&](double& v) { v = weight[k] * (v - mean) / std::sqrt(variance + eps) + bias[k]; });
  }
  return x;
}

/// Local response normalization of [n, c, inner].
inline Doubles response_norm(const Doubles& x, int64_t c, int64_t inner, int64_t size, double alpha,
                             double beta, double k) {
  Doubles y = x;
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    const int64_t channel = i / inner % c;
    double sum = 0;
    for (int64_t d = -(size / 2); d < size - size / 2; ++d)
      if (channel + d >= 0 && channel + d < c)
        sum += std::pow(x[static_cast<size_t>(i + d * inner)], 2);
    y[static_cast<size_t>(i)] =
        x[static_cast<size_t>(i)] / std::pow(k + alpha / static_cast<double>(size) * sum, beta);
  }
  return y;
}

}  // namespace kaiseki::test
