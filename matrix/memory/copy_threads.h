// SPDX-License-Identifier: MIT
// CopyThreads: copies between memory and a backing store, beside the program. A copy in each
// direction can run at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace kaiseki {

enum class CopyWay : uint8_t { to_store, to_memory };

/// Bytes of a place: rows with a fixed distance.
struct RowsOfPlace {
  uint64_t first = 0, row = 0;
  uint64_t pitch = 0;         // 0: one row
  uint64_t end = UINT64_MAX;  // of the last row
};

class CopyThreads {
 public:
  struct Copy {
    CopyWay way;
    const void* memory;
    uint64_t bytes;  // of the memory that the copy may use
    const void* place;
    RowsOfPlace rows;
    std::function<void()> run;
  };

  CopyThreads() = default;
  /// Waits for all copies.
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;

  /// Copies with common memory or with common bytes of a place run in the order of their calls. If
  /// the system has no thread, the copy is done at the end of the call.
  void start(Copy copy);
  /// Waits for the copies that use the memory. Throws the error of a copy to it.
  void finish(const void* memory, uint64_t bytes);
  /// Waits for all copies.
  void finish_all();
  /// Returns whether a waiting or running copy uses the memory.
  bool uses(const void* memory, uint64_t bytes) const;
  bool uses_place(const void* place) const;
  /// Call these before the memory or the place gets other contents. They wait for its copies, and
  /// forget the errors of these copies.
  void forget(const void* memory, uint64_t bytes);
  void forget_place(const void* place);

 private:
  struct Failure {
    CopyWay way;
    const void* memory;
    uint64_t bytes;
    const void* place;
    RowsOfPlace rows;
    std::exception_ptr error;
  };
  using Lock = std::unique_lock<std::mutex>;
  struct Waiting {
    Copy copy;
    bool runs = false;
  };
  using Copies = std::list<Waiting>;

  void start_threads();
  void work();
  Copies::iterator next();
  void run(const Copy& copy, Lock& lock);
  template <typename Condition>
  void wait_while_any(Lock& lock, const Condition& condition);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Copies copies_;  // in the order of their calls; a copy is removed when it is done
  std::vector<Failure> failures_;
  std::vector<std::thread> threads_;
  bool stops_ = false;
};

/// The copies of the CPU's tensors.
CopyThreads& copy_threads();

}  // namespace kaiseki
