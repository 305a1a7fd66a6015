// SPDX-License-Identifier: MIT
// Copies between any strides, and fills. Contiguous runs are copied whole. If one side is the
// transpose of the other, the copy runs in tiles.
#include "matrix/backend/operations/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "matrix/backend/kernel_table.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"
#include "matrix/with_type.h"

namespace kaiseki {
namespace {

constexpr int64_t kBytes = 1 << 18;  // per task
constexpr int64_t kTile = 16;

struct Axis {
  int64_t length, from, to;  // strides in elements
};

/// Returns the axes with more than one element, in descending order of the stride in `to`.
/// Neighboring axes are merged if both sides allow it.
std::vector<Axis> merged_axes(const Tensor& from, const Tensor& to) {
  std::vector<Axis> axes;
  for (int i = 0; i < from.rank(); ++i)
    if (from.dim(i) != 1) axes.push_back({from.dim(i), from.strides()[i], to.strides()[i]});
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().from == axis.from * axis.length &&
        merged.back().to == axis.to * axis.length)
      merged.back() = {merged.back().length * axis.length, axis.from, axis.to};
    else
      merged.push_back(axis);
  }
  return merged;
}

template <typename T>
void copy_plane(const T* from, T* to, const Axis& rows, const Axis& columns) {
  if (columns.from == 1 && columns.to == 1) {
    for (int64_t i = 0; i < rows.length; ++i)
      std::memcpy(to + i * rows.to, from + i * rows.from,
                  static_cast<size_t>(columns.length) * sizeof(T));
    return;
  }
  for (int64_t i0 = 0; i0 < rows.length; i0 += kTile)
    for (int64_t j0 = 0; j0 < columns.length; j0 += kTile) {
      int64_t i1 = std::min(rows.length, i0 + kTile), j1 = std::min(columns.length, j0 + kTile);
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
          to[i * rows.to + j * columns.to] = from[i * rows.from + j * columns.from];
    }
}

/// Copies planes of two axes: the fastest axis of `to` and the fastest other axis of `from`. Rows
/// are split so that one task moves about kBytes.
template <typename T>
void copy_strided(const T* from, T* to, std::vector<Axis> axes) {
  if (axes.empty()) {
    *to = *from;
    return;
  }
  Axis columns = axes.back();
  axes.pop_back();
  Axis rows{1, 0, 0};
  if (!axes.empty()) {
    auto best = columns.from == 1
                    ? axes.end() - 1
                    : std::min_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
                        return std::abs(a.from) < std::abs(b.from);
                      });
    rows = *best;
    axes.erase(best);
  } else {
    int64_t length = std::max<int64_t>(1, kBytes / static_cast<int64_t>(sizeof(T)));
    int64_t pieces = ceil_div(columns.length, length);
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        int64_t n = std::min(length, columns.length - p * length);
        copy_plane(from + p * length * columns.from, to + p * length * columns.to, {1, 0, 0},
                   {n, columns.from, columns.to});
      }
    });
    return;
  }
  int64_t planes = 1;
  for (const Axis& axis : axes) planes *= axis.length;
  int64_t step = kBytes / static_cast<int64_t>(sizeof(T)) / columns.length / kTile * kTile;
  step = std::max(step, kTile);
  int64_t cuts = ceil_div(rows.length, step);
  int64_t plane_bytes = rows.length * columns.length * static_cast<int64_t>(sizeof(T));
  int64_t grain = cuts > 1 ? 1 : std::max<int64_t>(1, kBytes / plane_bytes);
  parallel_for(planes * cuts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i / cuts, first = i % cuts * step;
      const T* source = from + first * rows.from;
      T* target = to + first * rows.to;
      for (size_t a = axes.size(); a-- > 0;) {
        source += rest % axes[a].length * axes[a].from;
        target += rest % axes[a].length * axes[a].to;
        rest /= axes[a].length;
      }
      copy_plane(source, target, {std::min(step, rows.length - first), rows.from, rows.to},
                 columns);
    }
  });
}

template <typename T>
void fill_with(T* to, T value, int64_t count) {
  parallel_for(count, kBytes / static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
}

void copy(const CopyArgs& args) {
  const Tensor& from = *args.from;
  Tensor& to = *args.to;
  if (from.size() == 0) return;
  const void* source = from.host_pointer(Access::read);
  bool whole = to.is_contiguous() && to.bytes() == to.buffer().bytes();
  void* target = to.host_pointer(whole ? Access::write : Access::read_write);
  std::vector<Axis> axes = merged_axes(from, to);
  switch (dtype_size(from.dtype())) {
    case 8:
      return copy_strided(static_cast<const uint64_t*>(source), static_cast<uint64_t*>(target),
                          axes);
    case 4:
      return copy_strided(static_cast<const uint32_t*>(source), static_cast<uint32_t*>(target),
                          axes);
    default:
      return copy_strided(static_cast<const uint8_t*>(source), static_cast<uint8_t*>(target), axes);
  }
}

void fill(const FillArgs& args) {
  Tensor& t = *args.output;
  with_type(t.dtype(),
            [&]<class T>(T) { fill_with(t.overwrite<T>(), static_cast<T>(args.value), t.size()); });
}

}  // namespace

namespace cpu {

void add_copy(KernelTable& kernels) {
  kernels.add(kCopy, copy);
  kernels.add(kFill, fill);
}

}  // namespace cpu

}  // namespace kaiseki
