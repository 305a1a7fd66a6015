// SPDX-License-Identifier: MIT
// Operation: a kind of operation as a value. A backend has a kernel for each operation that it
// supports (matrix/backend/kernel_table.h).
#pragma once

#include <string_view>

namespace kaiseki {

/// Its address identifies an operation.
struct NamedOperation {
  constexpr explicit NamedOperation(std::string_view name) : name(name) {}
  NamedOperation(const NamedOperation&) = delete;
  NamedOperation& operator=(const NamedOperation&) = delete;

  std::string_view name;
};

/// `Args` describes the operation's tensors. Functions of matrix/ops check them, so kernels do not.
template <class Args>
struct Operation : NamedOperation {
  using NamedOperation::NamedOperation;
};

/// For divide() of an operation's arguments. It means that each piece needs the whole tensor.
inline constexpr int kWhole = -1;

}  // namespace kaiseki
