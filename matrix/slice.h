// SPDX-License-Identifier: MIT
// The arguments of views: x(Slice(0, 10, 2), All, -1) is x[0:10:2, :, -1] in NumPy.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace kaiseki {

/// The elements start, start + step, ... before stop. Negative positions count from the end. A
/// missing position is an end of the axis. Positions beyond an end are moved to it. A negative step
/// reverses the order. A step of 0 throws ShapeError.
struct Slice {
  constexpr explicit Slice(std::optional<int64_t> start = {}, std::optional<int64_t> stop = {},
                           int64_t step = 1)
      : start(start), stop(stop), step(step) {}
  std::optional<int64_t> start, stop;
  int64_t step;
};

/// A new axis of length 1.
struct NewAxisIndex {};

inline constexpr Slice All{};
inline constexpr NewAxisIndex NewAxis{};

/// One index of a view: a slice, a position or a new axis. A position removes its axis.
struct AxisIndex {
  enum class Kind : uint8_t { slice, position, new_axis };

  constexpr AxisIndex(const Slice& slice) : slice(slice) {}
  constexpr AxisIndex(NewAxisIndex) : kind(Kind::new_axis) {}
  template <std::integral Position>
  constexpr AxisIndex(Position position) : kind(Kind::position), position(position) {}

  Kind kind = Kind::slice;
  Slice slice;
  int64_t position = 0;
};

/// A type of an argument that makes x(...) a view, and not an element.
template <class T>
concept ViewIndex = std::same_as<T, Slice> || std::same_as<T, NewAxisIndex>;

}  // namespace kaiseki
