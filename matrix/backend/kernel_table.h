// SPDX-License-Identifier: MIT
// KernelTable: the kernels of a backend, by operation.
#pragma once

#include <functional>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "matrix/backend/operation.h"

namespace kaiseki {

class KernelTable {
 public:
  /// Replaces the operation's kernel if there is one.
  template <class Args>
  void add(const Operation<Args>& operation,
           std::type_identity_t<std::function<void(const Args&)>> kernel) {
    kernels_[&operation] = [kernel = std::move(kernel)](const void* args) {
      kernel(*static_cast<const Args*>(args));
    };
  }
  void clear() { kernels_.clear(); }
  /// Returns the names of the operations that have a kernel, in no order.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    for (const auto& [operation, kernel] : kernels_) names.push_back(operation->name);
    return names;
  }

  template <class Args>
  bool has(const Operation<Args>& operation) const {
    return kernels_.count(&operation) != 0;
  }
  /// Returns false if the table has no kernel for the operation.
  template <class Args>
  bool run(const Operation<Args>& operation, const Args& args) const {
    const auto found = kernels_.find(&operation);
    if (found == kernels_.end()) return false;
    found->second(&args);
    return true;
  }

 private:
  std::unordered_map<const NamedOperation*, std::function<void(const void*)>> kernels_;
};

}  // namespace kaiseki
