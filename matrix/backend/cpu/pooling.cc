// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/pooling.h"

#include <algorithm>
#include <limits>

#include "matrix/backend/cpu/pooling_kernels.h"
#include "matrix/backend/cpu/pooling_rows_kernels.h"
#include "matrix/backend/cpu/pooling_window.h"
#include "matrix/backend/kernel_table.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

float divisor(const PoolingArgs& p, const PoolingWindow& rows, const PoolingWindow& columns) {
  return pooling_divisor(p, rows) * pooling_divisor(p, columns);
}

bool is_2x2(const PoolingArgs& p) {
  constexpr std::array<int64_t, 2> kTwo{2, 2}, kNone{0, 0};
  return p.window == kTwo && p.stride == kTwo && p.padding == kNone && 2 * p.out_h <= p.in_h &&
         2 * p.out_w <= p.in_w;
}

void max_plane(const PoolingArgs& p, const float* x, float* y, int32_t* indices) {
  for (int64_t i = 0; i < p.out_h; ++i) {
    const PoolingWindow rows = pooling_window(p, 0, i, p.in_h);
    for (int64_t j = 0; j < p.out_w; ++j) {
      const PoolingWindow columns = pooling_window(p, 1, j, p.in_w);
      int64_t best = rows.begin * p.in_w + columns.begin;
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t place = r * p.in_w + columns.begin; place < r * p.in_w + columns.end; ++place)
          if (x[place] > x[best] || (x[place] != x[place] && x[best] == x[best])) best = place;
      *y++ = x[best];
      *indices++ = static_cast<int32_t>(best);
    }
  }
}

void average_plane(const PoolingArgs& p, const float* x, float* y) {
  for (int64_t i = 0; i < p.out_h; ++i) {
    const PoolingWindow rows = pooling_window(p, 0, i, p.in_h);
    for (int64_t j = 0; j < p.out_w; ++j) {
      const PoolingWindow columns = pooling_window(p, 1, j, p.in_w);
      float sum = 0;
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t c = columns.begin; c < columns.end; ++c) sum += x[r * p.in_w + c];
      *y++ = sum / divisor(p, rows, columns);
    }
  }
}

void max_plane_backward(const PoolingArgs& p, const float* dy, const int32_t* indices, float* dx) {
  const int64_t size = p.in_h * p.in_w;
  std::fill_n(dx, size, 0.0f);
  for (int64_t i = 0; i < p.out_h * p.out_w; ++i)
    if (indices[i] >= 0 && indices[i] < size) dx[indices[i]] += dy[i];
}

void average_plane_backward(const PoolingArgs& p, const float* dy, float* dx) {
  std::fill_n(dx, p.in_h * p.in_w, 0.0f);
  for (int64_t i = 0; i < p.out_h; ++i) {
    const PoolingWindow rows = pooling_window(p, 0, i, p.in_h);
    for (int64_t j = 0; j < p.out_w; ++j) {
      const PoolingWindow columns = pooling_window(p, 1, j, p.in_w);
      const float part = *dy++ / divisor(p, rows, columns);
      for (int64_t r = rows.begin; r < rows.end; ++r)
        for (int64_t c = columns.begin; c < columns.end; ++c) dx[r * p.in_w + c] += part;
    }
  }
}

void plane_2x2(const PoolingArgs& p, const float* x, float* y, int32_t* indices) {
  const Plane2x2 plane{p.in_w, p.out_h, p.out_w, 0};
  if (p.maximum)
    max_plane_2x2(plane, x, y, indices);
  else
    average_plane_2x2(plane, x, y);
}

/// Computes the input gradient of output rows begin..end, and sets the columns outside all windows
/// to 0.
void rows_2x2_backward(const PoolingArgs& p, int64_t begin, int64_t end, const float* dy,
                       const int32_t* indices, float* dx) {
  const Plane2x2 plane{p.in_w, end - begin, p.out_w, 2 * begin * p.in_w};
  if (p.maximum)
    max_plane_2x2_backward(plane, dy, indices, dx);
  else
    average_plane_2x2_backward(plane, dy, dx);
  if (2 * p.out_w < p.in_w)
    for (int64_t i = 0; i < 2 * (end - begin); ++i)
      std::fill(dx + i * p.in_w + 2 * p.out_w, dx + (i + 1) * p.in_w, 0.0f);
}

void plane_2x2_backward(const PoolingArgs& p, const float* dy, const int32_t* indices, float* dx) {
  rows_2x2_backward(p, 0, p.out_h, dy, indices, dx);
  std::fill(dx + 2 * p.out_h * p.in_w, dx + p.in_h * p.in_w, 0.0f);
}

void pooling_planes(const PoolingArgs& p, int64_t planes, const float* x, float* y,
                    int32_t* indices) {
  const int64_t in = p.in_h * p.in_w, out = p.out_h * p.out_w;
  const bool fast = is_2x2(p);
  if (!fast && supports_pooling_rows(p)) return pooling_rows(p, planes, x, y, indices);
  for (int64_t i = 0; i < planes; ++i) {
    int32_t* places = indices ? indices + i * out : nullptr;
    if (fast)
      plane_2x2(p, x + i * in, y + i * out, places);
    else if (p.maximum)
      max_plane(p, x + i * in, y + i * out, places);
    else
      average_plane(p, x + i * in, y + i * out);
  }
}

int64_t planes_a_piece(const PoolingArgs& p) {
  constexpr int64_t kPieceFloats = 32 * 1024;
  return std::max<int64_t>(1, kPieceFloats / std::max<int64_t>(1, p.in_h * p.in_w));
}

void pooling_forward(const PoolingArgs& p) {
  const float* x = p.x->data<float>();
  float* y = p.y->overwrite<float>();
  int32_t* indices = p.maximum ? p.indices->overwrite<int32_t>() : nullptr;
  const int64_t in = p.in_h * p.in_w, out = p.out_h * p.out_w;
  parallel_for(p.planes, planes_a_piece(p), [&](int64_t begin, int64_t end) {
    pooling_planes(p, end - begin, x + begin * in, y + begin * out,
                   indices ? indices + begin * out : nullptr);
  });
}

void pooling_backward(const PoolingArgs& p) {
  const float* dy = p.dy->data<float>();
  const int32_t* indices = p.maximum ? p.indices->data<int32_t>() : nullptr;
  float* dx = p.dx->overwrite<float>();
  const int64_t in = p.in_h * p.in_w, out = p.out_h * p.out_w;
  const bool fast = is_2x2(p), by_rows = !fast && !p.maximum && supports_pooling_rows(p);
  parallel_for(p.planes, planes_a_piece(p), [&](int64_t begin, int64_t end) {
    if (by_rows) return average_rows_backward(p, end - begin, dy + begin * out, dx + begin * in);
    for (int64_t i = begin; i < end; ++i) {
      const int32_t* places = indices ? indices + i * out : nullptr;
      if (fast)
        plane_2x2_backward(p, dy + i * out, places, dx + i * in);
      else if (p.maximum)
        max_plane_backward(p, dy + i * out, places, dx + i * in);
      else
        average_plane_backward(p, dy + i * out, dx + i * in);
    }
  });
}

}  // namespace

void max_pool_rows(const PoolingArgs& p, int64_t begin, int64_t end, const float* x, int64_t x_row,
                   float* y, int32_t* indices) {
  const int64_t first = begin * p.stride[0] - p.padding[0], top = std::max<int64_t>(first, 0);
  const int64_t last = (end - 1) * p.stride[0] - p.padding[0] + p.window[0];
  PoolingArgs rows = p;
  rows.padding[0] = top - first;
  rows.in_h = std::min(last, p.in_h) - top;
  rows.out_h = end - begin;
  pooling_planes(rows, 1, x + (top - x_row) * p.in_w, y, indices);
  const auto before = static_cast<int32_t>(top * p.in_w);
  for (int64_t i = 0; i < rows.out_h * p.out_w; ++i) indices[i] += before;
}

void max_pool_backward_rows(const PoolingArgs& p, int64_t begin, int64_t end, const float* dy,
                            const int32_t* indices, float* dx) {
  const int64_t out = p.out_w, size = (end - begin) * p.in_w;
  if (is_2x2(p)) {
    const int64_t i = std::max<int64_t>(begin / 2, 0);
    const int64_t last = std::max(i, std::min(end / 2, p.out_h));
    float* const covered = dx + (2 * i - begin) * p.in_w;
    std::fill(dx, covered, 0.0f);
    rows_2x2_backward(p, i, last, dy + i * out, indices + i * out, covered);
    std::fill(covered + 2 * (last - i) * p.in_w, dx + size, 0.0f);
    return;
  }
  std::fill_n(dx, size, 0.0f);
  const int64_t before = begin + p.padding[0] - p.window[0], after = end - 1 + p.padding[0];
  const int64_t first = before < 0 ? 0 : before / p.stride[0] + 1;
  const int64_t last = after < 0 ? 0 : std::min(p.out_h, after / p.stride[0] + 1);
  for (int64_t i = first * out; i < last * out; ++i) {
    const int64_t place = indices[i] - begin * p.in_w;
    if (place >= 0 && place < size) dx[place] += dy[i];
  }
}

void add_pooling(KernelTable& kernels) {
  kernels.add(kPoolingForward, pooling_forward);
  kernels.add(kPoolingBackward, pooling_backward);
}

}  // namespace kaiseki::cpu
