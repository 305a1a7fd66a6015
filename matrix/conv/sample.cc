// SPDX-License-Identifier: MIT
#include "matrix/conv/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kaiseki::conv {
namespace {

constexpr int64_t kPlaces = 32;
constexpr double kAllowed = 2e-5;
constexpr double kSmallest = 1e-25;  // smaller floats lose digits or are zero

struct Sum : ExactSum {
  void add(float a, float b) {
    const double product = static_cast<double>(a) * b;
    sum += product, size += std::abs(product);
  }
};

class Reference {
 public:
  Reference(const ConvProblem& p, const ConvArgs& args)
      : p_(p), group_c_(p.c / p.groups), group_k_(p.k / p.groups) {
    if (p.direction != ConvDirection::backward_data) x_ = args.x->data<float>();
    if (p.direction != ConvDirection::backward_filter) filter_ = args.filter->data<float>();
    if (p.direction != ConvDirection::forward) dy_ = args.y->data<float>();
  }

  Sum at(int64_t place) const {
    switch (p_.direction) {
      case ConvDirection::forward:
        return output(place);
      case ConvDirection::backward_data:
        return input_gradient(place);
      default:
        return filter_gradient(place);
    }
  }

 private:
  int64_t row(int64_t i, int64_t r) const {
    return i * p_.stride[0] - p_.padding[0] + r * p_.dilation[0];
  }
  int64_t column(int64_t j, int64_t s) const {
    return j * p_.stride[1] - p_.padding[1] + s * p_.dilation[1];
  }
  float x(int64_t n, int64_t c, int64_t y, int64_t x) const {
    const bool inside = y >= 0 && y < p_.h && x >= 0 && x < p_.w;
    return inside ? x_[((n * p_.c + c) * p_.h + y) * p_.w + x] : 0;
  }
  float filter(int64_t k, int64_t c, int64_t r, int64_t s) const {
    return filter_[((k * group_c_ + c) * p_.r + r) * p_.s + s];
  }

  Sum output(int64_t place) const {
    const int64_t j = place % p_.out_w(), i = place / p_.out_w() % p_.out_h();
    const int64_t k = place / (p_.out_w() * p_.out_h()) % p_.k,
                  n = place / (p_.out_w() * p_.out_h() * p_.k);
    Sum sum;
    for (int64_t c = 0; c < group_c_; ++c)
      for (int64_t r = 0; r < p_.r; ++r)
        for (int64_t s = 0; s < p_.s; ++s)
          sum.add(x(n, k / group_k_ * group_c_ + c, row(i, r), column(j, s)), filter(k, c, r, s));
    return sum;
  }

  Sum input_gradient(int64_t place) const {
    const int64_t w = place % p_.w, h = place / p_.w % p_.h;
    const int64_t c = place / (p_.w * p_.h) % p_.c, n = place / (p_.w * p_.h * p_.c);
    Sum sum;
    for (int64_t r = 0; r < p_.r; ++r)
      for (int64_t s = 0; s < p_.s; ++s) {
        const int64_t up = h - row(0, r), left = w - column(0, s);
        if (up < 0 || left < 0 || up % p_.stride[0] || left % p_.stride[1]) continue;
        const int64_t i = up / p_.stride[0], j = left / p_.stride[1];
        if (i >= p_.out_h() || j >= p_.out_w()) continue;
        for (int64_t k = 0; k < group_k_; ++k) {
          const int64_t channel = c / group_c_ * group_k_ + k;
          sum.add(dy_[((n * p_.k + channel) * p_.out_h() + i) * p_.out_w() + j],
                  filter(channel, c % group_c_, r, s));
        }
      }
    return sum;
  }

  Sum filter_gradient(int64_t place) const {
    const int64_t s = place % p_.s, r = place / p_.s % p_.r;
    const int64_t c = place / (p_.s * p_.r) % group_c_, k = place / (p_.s * p_.r * group_c_);
    Sum sum;
    for (int64_t n = 0; n < p_.n; ++n)
      for (int64_t i = 0; i < p_.out_h(); ++i)
        for (int64_t j = 0; j < p_.out_w(); ++j)
          sum.add(x(n, k / group_k_ * group_c_ + c, row(i, r), column(j, s)),
                  dy_[((n * p_.k + k) * p_.out_h() + i) * p_.out_w() + j]);
    return sum;
  }

  const ConvProblem& p_;
  const int64_t group_c_, group_k_;
  const float *x_ = nullptr, *filter_ = nullptr, *dy_ = nullptr;
};

int64_t result_size(const ConvProblem& p) {
  switch (p.direction) {
    case ConvDirection::forward:
      return p.n * p.k * p.out_h() * p.out_w();
    case ConvDirection::backward_data:
      return p.n * p.c * p.h * p.w;
    default:
      return p.k * (p.c / p.groups) * p.r * p.s;
  }
}

}  // namespace

ExactSum exact_value(const ConvProblem& problem, const ConvArgs& args, int64_t place) {
  return Reference(problem, args).at(place);
}

ResultSample::ResultSample(const ConvProblem& problem, const ConvArgs& args) {
  const int64_t size = result_size(problem), count = std::min(size, kPlaces);
  for (int64_t i = 0; i < count; ++i) {  // spread evenly, including both ends
    const int64_t place = (size - 1) * i / std::max<int64_t>(1, count - 1);
    const ExactSum sum = exact_value(problem, args, place);
    values_.push_back({place, sum.sum, sum.size});
  }
}

double ResultSample::largest() const {
  double largest = 0;
  for (const SampledValue& value : values_)
    if (std::isfinite(value.size)) largest = std::max(largest, value.size);
  return largest;
}

bool ResultSample::can_show_errors() const { return largest() >= kSmallest; }

bool ResultSample::matches(const Tensor& result) const {
  if (!can_show_errors()) return true;
  const double allowed = kAllowed * largest();
  const float* values = result.data<float>();
  return std::ranges::all_of(values_, [&](const SampledValue& value) {
    return !(std::abs(value.sum) <= std::numeric_limits<float>::max()) ||
           std::abs(values[value.place] - value.sum) <= allowed;
  });
}

}  // namespace kaiseki::conv
