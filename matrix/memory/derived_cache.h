// SPDX-License-Identifier: MIT
// DerivedCache: data computed from tensors that are read more often than written, such as filters
// transformed for Winograd. It uses only memory that nothing else needs.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "matrix/tensor.h"

namespace kaiseki {

/// The cache of one device. Not thread-safe.
class DerivedCache {
 public:
  explicit DerivedCache(Device device) : compares_(device.is_cpu()) {}

  /// Identifies the data and the code that computes it. Each form of a tensor has its own entry.
  struct Form {
    const void* maker;
    int64_t variant;
    uint64_t bytes;
    bool operator==(const Form&) const = default;
  };
  using Make = std::function<void(Tensor& to)>;
  using Allocate = std::function<Tensor(uint64_t bytes)>;

  /// Returns u8 [form.bytes] with the output of `make` for the current contents of `source`, which
  /// is contiguous. Returns no tensor if `allocate` gives none. Also returns none if these contents
  /// are new and the previous contents were used only once. Contents are compared by
  /// Buffer::contents(). On the CPU the bits are compared too, because a program may write through
  /// a pointer that it holds.
  Tensor of(const Tensor& source, const Form& form, const Make& make, const Allocate& allocate);

  /// Frees all memory.
  void clear() noexcept;
  /// Frees the data of tensors that no longer exist.
  void purge();
  uint64_t bytes() const;

 private:
  struct Entry {
    std::weak_ptr<const Buffer> storage;
    int64_t offset;
    Shape shape;
    Form form;
    uint64_t contents = 0;  // contents at the last call
    bool again = false;     // the same contents were used more than once
    Tensor block{};         // the data, on the CPU followed by a copy of the source
    uint64_t made_of = 0;   // the contents that the data was computed from; 0: none
  };

  Entry* find(const Tensor& source, const Form& form);
  bool matches_contents(const Entry& entry, const Tensor& source) const;

  const bool compares_;
  std::list<Entry> entries_;
};

}  // namespace kaiseki
