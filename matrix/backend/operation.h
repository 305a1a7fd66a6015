// SPDX-License-Identifier: MIT
// Operation: a kind of operation as a value. A backend has a kernel for each operation that it
// supports (matrix/backend/kernel_table.h).
#pragma once

#include <string_view>

namespace kaiseki {

/// Its address identifies an operation. `Args` describes the operation's tensors. Functions of
/// matrix/ops check them, so kernels do not.
template <class Args>
struct Operation {
  constexpr explicit Operation(std::string_view name) : name(name) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  std::string_view name;
};

}  // namespace kaiseki
