// SPDX-License-Identifier: MIT
#include "matrix/linalg/device_factors.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "matrix/linalg/factor_cholesky.h"
#include "matrix/linalg/factor_qr.h"
#include "matrix/linalg/triangular.h"
#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/reduce.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kBlock = 128;
/// The width of a product of cholesky_on_device().
constexpr int64_t kColumns = 1024;

/// The elements in host memory of their own.
Tensor on_host(const Tensor& view) { return view.contiguous().to(Device::cpu()); }

MatrixView<float> host_view(Tensor& matrix) {
  return {matrix.mutable_data<float>(), matrix.dim(0), matrix.dim(1), matrix.dim(1)};
}

/// to -= a b
void subtract_product(const Tensor& a, const Tensor& b, Tensor to, bool transpose_a = false) {
  if (to.size() > 0) gemm(a, b, to, {.transpose_a = transpose_a, .alpha = -1, .beta = 1});
}

/// Exchanges the rows of a as the factorization of its block of columns did.
void exchange_rows(const Tensor& a, const LuPivots& pivots) {
  std::vector<int32_t> order(static_cast<size_t>(a.dim(0))), to, from;
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < pivots.swapped.size(); ++i)
    std::swap(order[i], order[static_cast<size_t>(pivots.swapped[i])]);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int32_t>(i)) {
      to.push_back(static_cast<int32_t>(i));
      from.push_back(order[i]);
    }
  if (to.empty() || a.size() == 0) return;
  const auto indices = [&](const std::vector<int32_t>& rows) {
    return Tensor::from(std::span<const int32_t>(rows), {static_cast<int64_t>(rows.size())},
                        a.device());
  };
  Tensor target = a;
  put(target, indices(to), take(a, indices(from), 0), 0);
}

/// Solves a triangular system for the rows of x, and returns the solution on the device.
Tensor solve_rows(Tensor& triangle, bool upper, bool unit, Tensor rows) {
  Tensor host = on_host(rows);
  solve_triangular(Triangle<float>{host_view(triangle), false, upper, unit}, host_view(host));
  Tensor solution = host.to(rows.device());
  copy_into(rows, solution);
  return solution;
}

}  // namespace

void check_finite_on_device(const Tensor& a, std::string_view name) {
  if (!all(elementwise("isfinite(x)", {{"x", a}})).item<bool>()) throw not_finite(name);
}

DeviceLu lu_on_device(const Tensor& a) {
  DeviceLu lu{a.clone(), {}};
  const Tensor& packed = lu.packed;
  const int64_t m = a.dim(0), n = a.dim(1), count = std::min(m, n);
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count), width = end - begin;
    Tensor panel = on_host(packed(Slice(begin), Slice(begin, end)));
    const LuPivots pivots = factor_lu(host_view(panel));
    for (int64_t row : pivots.swapped) lu.pivots.swapped.push_back(begin + row);
    if (pivots.zero && !lu.pivots.zero) lu.pivots.zero = begin + *pivots.zero;
    exchange_rows(packed(Slice(begin), All), pivots);
    const Tensor factors = panel.to(a.device());
    Tensor columns = packed(Slice(begin), Slice(begin, end));
    copy_into(columns, factors);
    if (end == n) continue;
    Tensor triangle = panel.slice(0, 0, width);
    const Tensor right = solve_rows(triangle, false, true, packed(Slice(begin, end), Slice(end)));
    subtract_product(factors.slice(0, width, m - end), right, packed(Slice(end), Slice(end)));
  }
  return lu;
}

Tensor solve_on_device(const DeviceLu& lu, const Tensor& b) {
  const Tensor x = b.clone();
  exchange_rows(x, lu.pivots);
  const int64_t n = x.dim(0);
  const auto block = [&](int64_t begin, int64_t end) {
    return on_host(lu.packed(Slice(begin, end), Slice(begin, end)));
  };
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    Tensor triangle = block(begin, end);
    const Tensor solution = solve_rows(triangle, false, true, x.slice(0, begin, end - begin));
    subtract_product(lu.packed(Slice(end), Slice(begin, end)), solution, x.slice(0, end, n - end));
  }
  for (int64_t begin = (n - 1) / kBlock * kBlock; begin >= 0; begin -= kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    Tensor triangle = block(begin, end);
    const Tensor solution = solve_rows(triangle, true, false, x.slice(0, begin, end - begin));
    subtract_product(lu.packed(Slice(0, begin), Slice(begin, end)), solution, x.slice(0, 0, begin));
  }
  return x;
}

DeviceCholesky cholesky_on_device(const Tensor& a) {
  const Tensor l = a.clone();
  const int64_t n = a.dim(0);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n), width = end - begin;
    // Transposed, so the panel begins with the upper triangle of factor_cholesky().
    Tensor panel = on_host(l(Slice(begin), Slice(begin, end)).transpose());
    const MatrixView<float> rows = host_view(panel);
    const MatrixView<float> triangle = rows.block(0, 0, width, width);
    if (const auto failed = factor_cholesky(triangle))
      return {{}, DeviceCholesky::Pivot{begin + *failed, triangle(*failed, *failed)}};
    solve_triangular(Triangle<float>{triangle, true, false, false},
                     rows.block(0, width, width, n - end));
    const Tensor factors = panel.to(a.device());
    Tensor columns = l(Slice(begin), Slice(begin, end));
    copy_into(columns, factors.transpose());
    // Blocks of columns leave out most of the upper triangle.
    for (int64_t left = end; left < n; left += kColumns)
      subtract_product(factors.slice(1, left - begin, n - left),
                       factors.slice(1, left - begin, std::min(kColumns, n - left)),
                       l(Slice(left), Slice(left, std::min(left + kColumns, n))), true);
  }
  return {tril(l), {}};
}

DeviceQr qr_on_device(const Tensor& a, int64_t k) {
  const int64_t m = a.dim(0), n = a.dim(1), count = std::min(m, n);
  /// The reflectors of a block of columns on the device: I - V^T factor V.
  struct Block {
    int64_t begin;
    Tensor v, factor;
    void apply(bool transposed, const Tensor& x) const {
      if (x.size() == 0) return;
      subtract_product(v, matmul(factor, matmul(v, x), transposed), x, true);
    }
  };
  std::vector<Block> blocks;
  const Tensor r = a.clone();
  for (int64_t begin = 0; begin < count; begin += QrFactors<float>::kBlock) {
    const int64_t end = std::min(begin + QrFactors<float>::kBlock, count);
    Tensor panel = on_host(r(Slice(begin), Slice(begin, end)).transpose());
    QrFactors<float> factors(host_view(panel));
    const BlockReflector<float> reflectors = factors.block(0);
    const auto upload = [&](const MatrixView<float>& matrix) {
      Tensor host({matrix.rows, matrix.columns}, DType::f32, Device::cpu());
      copy_matrix_into(host_view(host), matrix);
      return host.to(a.device());
    };
    blocks.push_back({begin, upload(reflectors.v), upload(reflectors.factor)});
    Tensor columns = r(Slice(begin), Slice(begin, end));
    copy_into(columns, panel.to(a.device()).transpose());
    blocks.back().apply(true, r(Slice(begin), Slice(end)));
  }
  const Tensor q = eye(m, k, 0, DType::f32, a.device());
  // The rows before a block's first column are still rows of the identity there.
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
    block->apply(false, q(Slice(block->begin), Slice(block->begin)));
  return {q, triu(r.slice(0, 0, k))};
}

}  // namespace kaiseki::linalg
