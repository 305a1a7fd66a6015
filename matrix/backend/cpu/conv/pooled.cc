// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/pooled.h"

#include <algorithm>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/pooling.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

constexpr int kSlot = 3;  // slot of this thread's scratch memory; the solvers use the other slots
constexpr double kMostIdle = 0.1;

}  // namespace

PooledPlanes::PooledPlanes(const PoolingTarget& target, int64_t first_plane, int64_t planes,
                           int64_t block_rows)
    : target_(target),
      plane_(first_plane),
      planes_(planes),
      rows_(block_rows + target.args.window[0] - 1),
      band_(thread_scratch(kSlot, planes * rows_ * target.args.in_w)) {}

void PooledPlanes::add(int64_t count) {
  const PoolingArgs& p = target_.args;
  written_ = std::min(written_ + count, p.in_h);
  const int64_t room = written_ + p.padding[0] - p.window[0];
  const int64_t full = room < 0 ? 0 : std::min(p.out_h, room / p.stride[0] + 1);
  const int64_t end = written_ == p.in_h ? p.out_h : full;
  const int64_t keep = std::clamp(end * p.stride[0] - p.padding[0], first_, written_);
  const int64_t size = (end - pooled_) * p.out_w;
  if (!target_.indices && size > static_cast<int64_t>(unwanted_.size()))
    unwanted_.resize(static_cast<size_t>(size));
  for (int64_t i = 0; i < planes_; ++i) {
    float* const plane = band_ + i * rows_ * p.in_w;
    const int64_t at = ((plane_ + i) * p.out_h + pooled_) * p.out_w;
    if (size > 0)
      cpu::max_pool_rows(p, pooled_, end, plane, first_, target_.y + at,
                         target_.indices ? target_.indices + at : unwanted_.data());
    if (keep > first_)
      std::copy(plane + (keep - first_) * p.in_w, plane + (written_ - first_) * p.in_w, plane);
  }
  first_ = keep;
  pooled_ = end;
}

UnpooledRows::UnpooledRows(const PoolingSource& source, int64_t first_plane, int64_t planes,
                           int64_t begin, int64_t end, int64_t images, int64_t image_planes) {
  const PoolingArgs& p = source.args;
  const int64_t even = begin & ~int64_t{1}, after = (end + 1) & ~int64_t{1};
  rows_ = after - even;
  float* const band = thread_scratch(kSlot, images * planes * rows_ * p.in_w);
  const int64_t out = p.out_h * p.out_w;
  for (int64_t i = 0; i < images * planes; ++i) {
    const int64_t at = (first_plane + i / planes * image_planes + i % planes) * out;
    cpu::max_pool_backward_rows(p, even, after, source.dy + at, source.indices + at,
                                band + i * rows_ * p.in_w);
  }
  data_ = band + (begin - even) * p.in_w;
}

bool shares_evenly(int64_t tasks) {
  const int64_t threads = thread_count(), rounds = ceil_div(tasks, threads);
  return static_cast<double>(rounds * threads - tasks) <= kMostIdle * static_cast<double>(tasks);
}

}  // namespace kaiseki::conv
