// SPDX-License-Identifier: MIT
// The CPU's matrix product against loops in double precision.
#include "matrix/backend/cpu/gemm.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "matrix/threads.h"
#include "tests/support/activation.h"
#include "tests/support/loops.h"

namespace {

using kaiseki::Activation;
using kaiseki::cpu::Gemm;

/// In [-1, 1), from a linear congruential generator. The tests need many values, so a better
/// generator would take most of their time.
std::vector<float> random_values(int64_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float& v : values) {
    seed = seed * 1664525 + 1013904223;
    v = static_cast<float>(seed >> 8) * 0x1p-23f - 1;
  }
  return values;
}

/// A product with its operands. The gaps between the rows of C must stay unchanged.
struct Case {
  static constexpr float kGuard = 12345;
  Gemm g;
  std::vector<float> a, b, c, bias_row, bias_col;

  Case(int64_t m, int64_t n, int64_t k, bool trans_a, bool trans_b, int64_t batch = 1,
       int64_t pad = 3) {
    g.trans_a = trans_a, g.trans_b = trans_b, g.m = m, g.n = n, g.k = k, g.batch = batch;
    g.lda = (trans_a ? m : k) + pad, g.ldb = (trans_b ? k : n) + pad, g.ldc = n + pad;
    g.stride_a = g.lda * (trans_a ? k : m), g.stride_b = g.ldb * (trans_b ? n : k);
    g.stride_c = g.ldc * m;
    a = random_values(g.stride_a * batch, 1), b = random_values(g.stride_b * batch, 2);
    c = random_values(g.stride_c * batch, 3);
    bias_row = random_values(m, 4), bias_col = random_values(n, 5);
    for (int64_t i = 0; i < m * batch; ++i)
      for (int64_t j = n; j < g.ldc; ++j) c[i * g.ldc + j] = kGuard;
  }

  void point() { g.a = a.data(), g.b = b.data(), g.c = c.data(); }

  /// The largest |error| in units of the bound k * eps * sum |a||b| (and a few eps of the result).
  double worst(const std::vector<float>& before) const {
    double worst = 0;
    std::vector<double> sums(g.m * g.n), sizes(g.m * g.n);
    for (int64_t t = 0; t < g.batch; ++t) {
      kaiseki::test::multiply_loops(
          {a.data() + t * g.stride_a, g.trans_a ? 1 : g.lda, g.trans_a ? g.lda : 1},
          {b.data() + t * g.stride_b, g.trans_b ? 1 : g.ldb, g.trans_b ? g.ldb : 1}, g.m, g.n, g.k,
          sums.data(), sizes.data());
      for (int64_t i = 0; i < g.m; ++i)
        for (int64_t j = 0; j < g.n; ++j) {
          const double sum = sums[i * g.n + j], size = sizes[i * g.n + j];
          const int64_t at = t * g.stride_c + i * g.ldc + j;
          double want = g.alpha * sum + (g.beta == 0 ? 0 : g.beta * double{before[at]});
          if (g.bias_row) want += g.bias_row[i];
          if (g.bias_col) want += g.bias_col[j];
          want = kaiseki::test::activate(want, g.activation, g.slope);
          const double eps = std::numeric_limits<float>::epsilon();
          const double bound = eps * (std::abs(g.alpha) * g.k * size + 8 * (1 + std::abs(want)));
          worst = std::max(worst, std::abs(c[at] - want) / bound);
          if (std::isnan(c[at])) worst = 1e9;
        }
    }
    return worst;
  }

  double run_and_compare() {
    point();
    const std::vector<float> before = c;
    kaiseki::cpu::gemm(g);
    for (int64_t i = 0; i < g.m * g.batch; ++i)
      for (int64_t j = g.n; j < g.ldc; ++j) REQUIRE(c[i * g.ldc + j] == kGuard);
    return worst(before);
  }
};

struct Size {
  int64_t m, n, k;
};
const Size kSizes[] = {{1, 1, 1},     {1, 7, 3},       {3, 1, 5},     {2, 33, 17},     {5, 16, 1},
                       {13, 31, 7},   {14, 32, 8},     {15, 33, 9},   {29, 65, 61},    {64, 64, 64},
                       {10, 64, 500}, {20, 25, 401},   {61, 67, 389}, {101, 103, 107}, {37, 1, 997},
                       {1, 97, 800},  {127, 257, 771}, {3, 5, 3001}};

}  // namespace

TEST_CASE("gemm: every size in all four transpositions") {
  for (const Size& s : kSizes)
    for (int t = 0; t < 4; ++t) {
      CAPTURE(s.m);
      CAPTURE(s.n);
      CAPTURE(s.k);
      CAPTURE(t);
      CHECK(Case(s.m, s.n, s.k, t & 1, t & 2).run_and_compare() < 1);
    }
}

TEST_CASE("gemm: a matrix and a vector on either side, with every epilogue") {
  for (int64_t size : {1, 3, 8, 20, 31, 33, 131, 1100})
    for (int64_t k : {1, 7, 8, 20, 65, 2050, 4101})
      for (int t = 0; t < 8; ++t) {
        CAPTURE(size);
        CAPTURE(k);
        CAPTURE(t);
        const bool row = t & 4;
        Case c(row ? 1 : size, row ? size : 1, k, t & 1, t & 2, 1 + size % 2, row ? 3 : 0);
        if (k % 2) c.g.alpha = -0.5f, c.g.beta = 0.25f;
        if (size % 3) c.g.bias_row = c.bias_row.data();
        if (size % 2) c.g.bias_col = c.bias_col.data(), c.g.activation = Activation::tanh;
        CHECK(c.run_and_compare() < 1);
      }
}

TEST_CASE("gemm: more than one block of rows, of columns and of k") {
  for (const Size& s : {Size{2090, 150, 70}, Size{37, 1101, 653}, Size{130, 530, 1301}})
    for (int t = 0; t < 4; ++t) {
      CAPTURE(s.m);
      CAPTURE(t);
      Case c(s.m, s.n, s.k, t & 1, t & 2);
      c.g.beta = 0.5f, c.g.bias_col = c.bias_col.data(), c.g.activation = Activation::relu;
      CHECK(c.run_and_compare() < 1);
    }
}

TEST_CASE("gemm: alpha, beta, bias and activation in every combination") {
  for (const Size& s : {Size{17, 35, 19}, Size{64, 96, 800}, Size{3, 5, 2000}})
    for (float alpha : {1.0f, -0.5f})
      for (float beta : {0.0f, 1.0f, 0.25f})
        for (int bias = 0; bias < 4; ++bias)
          for (Activation act : kaiseki::kActivations) {
            Case c(s.m, s.n, s.k, false, static_cast<int>(act) % 2);
            c.g.alpha = alpha, c.g.beta = beta;
            if (bias & 1) c.g.bias_row = c.bias_row.data();
            if (bias & 2) c.g.bias_col = c.bias_col.data();
            c.g.activation = act;
            c.g.slope = 0.2f;
            CAPTURE(s.k);
            CAPTURE(bias);
            INFO(activation_name(act));
            CHECK(c.run_and_compare() < 1);
          }
}

TEST_CASE("gemm: with beta 0, C is not read") {
  for (const Size& s : kSizes) {
    Case c(s.m, s.n, s.k, false, false);
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t j = 0; j < s.n; ++j)
        c.c[i * c.g.ldc + j] = std::numeric_limits<float>::quiet_NaN();
    CHECK(c.run_and_compare() < 1);
  }
}

TEST_CASE("gemm: a NaN in an operand propagates through every activation") {
  for (Activation act : kaiseki::kActivations) {
    Case c(5, 40, 6, false, false);
    c.a[0] = std::numeric_limits<float>::quiet_NaN();
    c.g.activation = act;
    c.point();
    kaiseki::cpu::gemm(c.g);
    INFO(activation_name(act));
    CHECK(std::isnan(c.c[0]));
    CHECK(std::isnan(c.c[39]));
    CHECK_FALSE(std::isnan(c.c[c.g.ldc]));
  }
}

TEST_CASE("gemm: sigmoid and tanh saturate without NaN") {
  for (Activation act : {Activation::sigmoid, Activation::tanh}) {
    Case c(2, 20, 1, false, false);
    c.a[0] = 1e3, c.a[c.g.lda] = -1e6;
    c.b.assign(c.b.size(), 1);
    c.g.activation = act;
    CHECK(c.run_and_compare() < 1);
  }
}

TEST_CASE("gemm: empty sizes") {
  Case none(0, 5, 3, false, false), rows(4, 0, 3, false, false);
  CHECK(none.run_and_compare() == 0);
  CHECK(rows.run_and_compare() == 0);
  Case empty(4, 5, 0, false, false);
  empty.g.beta = 0.5f;
  empty.g.bias_col = empty.bias_col.data();
  empty.g.activation = Activation::relu;
  CHECK(empty.run_and_compare() < 1);
  Case fresh(4, 5, 0, false, false);
  fresh.c[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(fresh.run_and_compare() == 0);
}

TEST_CASE("gemm: batches, with an operand shared by all matrices") {
  for (int64_t batch : {2, 3, 17}) {
    Case c(19, 35, 23, false, true, batch);
    CHECK(c.run_and_compare() < 1);
    Case shared(19, 35, 23, true, false, batch);
    shared.g.stride_b = 0;
    CHECK(shared.run_and_compare() < 1);
  }
}

TEST_CASE("gemm: the same bits with any number of threads") {
  for (const Size& s :
       {Size{301, 257, 803}, Size{64, 1000, 100}, Size{5, 7, 9001}, Size{1, 1, 1},
        Size{1, 20, 100003}, Size{1, 3000, 70}, Size{1, 1, 300007}, Size{1, 700, 999}})
    for (int t = 0; t < 4; ++t) {
      std::vector<float> first;
      for (int threads : {1, 2, 3, 7}) {
        kaiseki::set_thread_count(threads);
        Case c(s.m, s.n, s.k, t & 1, t & 2);
        c.point();
        c.g.beta = 0.5f;
        c.g.activation = kaiseki::Activation::leaky_relu;
        kaiseki::cpu::gemm(c.g);
        if (first.empty()) first = c.c;
        CHECK(first == c.c);
      }
    }
  kaiseki::set_thread_count(0);
}

TEST_CASE("gemm: the same bits if a long k is split or not, which depends on the columns") {
  constexpr int64_t kRows = 3, kWide = 700, kNarrow = 32, kLong = 22000;
  Case wide(kRows, kWide, kLong, false, false);
  wide.point();
  kaiseki::cpu::gemm(wide.g);
  std::vector<float> narrow(kRows * kNarrow);
  kaiseki::cpu::Gemm g = wide.g;
  g.n = kNarrow, g.c = narrow.data(), g.ldc = kNarrow;
  kaiseki::cpu::gemm(g);
  for (int64_t i = 0; i < kRows; ++i)
    for (int64_t j = 0; j < kNarrow; ++j)
      CHECK(narrow[i * kNarrow + j] == wide.g.c[i * wide.g.ldc + j]);
}
