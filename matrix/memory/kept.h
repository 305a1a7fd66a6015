// SPDX-License-Identifier: MIT
// Kept: what was made of tensors that are read again and again before they are written, such as
// filters transformed for Winograd, in memory that nobody needs.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "matrix/tensor.h"

namespace kaiseki {

/// Not thread-safe. Of one device: its makers run there.
class Kept {
 public:
  explicit Kept(Device device) : compares_(device.is_cpu()) {}

  /// What is made of a tensor, and by whom: each is kept on its own.
  struct Form {
    const void* maker;
    int64_t variant;
    uint64_t bytes;
    bool operator==(const Form&) const = default;
  };
  using Make = std::function<void(Tensor& to)>;
  using Allocate = std::function<Tensor(uint64_t bytes)>;

  /// u8 [form.bytes] as `make` writes it for the present contents of `source`, which is contiguous;
  /// no tensor when these contents are met first, unless the ones before were met again, nor when
  /// `allocate` gives none. Contents are told apart by Buffer::contents(), and where the CPU is the
  /// maker, which reads what is written by a pointer held for long, bit by bit too.
  Tensor of(const Tensor& source, const Form& form, const Make& make, const Allocate& allocate);

  /// Gives all memory back.
  void clear() noexcept;
  /// Gives back what was made of tensors that are no more.
  void purge();
  uint64_t bytes() const;

 private:
  struct Entry {
    std::weak_ptr<const Buffer> storage;
    int64_t offset;
    Shape shape;
    Form form;
    uint64_t contents = 0;  // met last
    bool again = false;     // more than once
    Tensor block{};         // what was made, and on the CPU what of
    uint64_t made_of = 0;   // contents; 0: of none
  };

  Entry* find(const Tensor& source, const Form& form);
  bool is_made_of(const Entry& entry, const Tensor& source) const;

  const bool compares_;
  std::list<Entry> entries_;
};

}  // namespace kaiseki
