// SPDX-License-Identifier: MIT
#include "matrix/memory/copy_threads.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/timeline.h"

namespace kaiseki {
namespace {

/// Returns whether the copy, or a failed copy, uses the memory.
template <typename Copy>
bool overlaps(const Copy& copy, const void* memory, uint64_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const auto copied = reinterpret_cast<uintptr_t>(copy.memory);
  return begin < copied + copy.bytes && copied < begin + bytes;
}

/// If all rows have the same distance, it is enough to compare the first row.
bool are_apart(const RowsOfPlace& a, const RowsOfPlace& b) {
  if (a.end <= b.first || b.end <= a.first) return true;
  if (!a.pitch || a.pitch != b.pitch) return false;
  const uint64_t at = a.first % a.pitch, other = b.first % b.pitch;
  return at + a.row <= a.pitch && other + b.row <= b.pitch &&
         (at + a.row <= other || other + b.row <= at);
}

}  // namespace

CopyThreads::~CopyThreads() {
  finish_all();
  {
    std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CopyThreads::start_threads() {
  try {
    while (threads_.size() < 2) threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {  // the threads that started do all copies
  }
}

void CopyThreads::start(Copy copy) {
  Lock lock(mutex_);
  if (threads_.empty()) start_threads();
  if (threads_.empty()) return run(copy, lock);
  copies_.push_back({std::move(copy)});
  lock.unlock();
  changed_.notify_all();
}

/// The first copy that can run. No copy in its direction runs now. No earlier copy uses the same
/// memory, or the same bytes of the place.
CopyThreads::Copies::iterator CopyThreads::next() {
  for (auto at = copies_.begin(); at != copies_.end(); ++at) {
    if (at->runs || std::ranges::any_of(copies_, [&](const Waiting& other) {
          return other.runs && other.copy.way == at->copy.way;
        }))
      continue;
    const bool waits = std::any_of(copies_.begin(), at, [&](const Waiting& earlier) {
      return (earlier.copy.place == at->copy.place &&
              !are_apart(earlier.copy.rows, at->copy.rows)) ||
             overlaps(earlier.copy, at->copy.memory, at->copy.bytes);
    });
    if (!waits) return at;
  }
  return copies_.end();
}

void CopyThreads::work() {
  Lock lock(mutex_);
  while (!stops_) {
    const auto at = next();
    if (at == copies_.end()) {
      changed_.wait(lock);
      continue;
    }
    at->runs = true;
    run(at->copy, lock);
    copies_.erase(at);
    changed_.notify_all();
  }
}

/// A copy from a place fails as the earlier copy to it did, until another one replaces its bytes.
void CopyThreads::run(const Copy& copy, Lock& lock) {
  const auto has_failed = [&](const Failure& one) {
    return one.way == CopyWay::to_store && one.place == copy.place;
  };
  std::exception_ptr error;
  if (copy.way == CopyWay::to_memory)
    if (const auto earlier = std::ranges::find_if(failures_, has_failed);
        earlier != failures_.end())
      error = earlier->error;
  lock.unlock();
  if (!error) try {
      copy.run();
    } catch (...) {
      error = std::current_exception();
    }
  lock.lock();
  if (error)
    failures_.push_back({copy.way, copy.memory, copy.bytes, copy.place, copy.rows, error});
  else if (copy.way == CopyWay::to_store)
    std::erase_if(failures_, [&](const Failure& one) {
      return has_failed(one) && copy.rows.pitch == 0 && copy.rows.first <= one.rows.first &&
             one.rows.end <= copy.rows.end;
    });
}

template <typename Condition>
void CopyThreads::wait_while_any(Lock& lock, const Condition& condition) {
  const auto runs = [&](const Waiting& waiting) { return condition(waiting.copy); };
  if (std::ranges::none_of(copies_, runs)) return;
  const TimelineSpan span("waits for copies", "wait");
  while (std::ranges::any_of(copies_, runs)) changed_.wait(lock);
}

void CopyThreads::finish(const void* memory, uint64_t bytes) {
  Lock lock(mutex_);
  wait_while_any(lock, [&](const Copy& copy) { return overlaps(copy, memory, bytes); });
  for (const Failure& one : failures_)
    if (one.way == CopyWay::to_memory && overlaps(one, memory, bytes))
      std::rethrow_exception(one.error);
}

void CopyThreads::finish_all() {
  Lock lock(mutex_);
  wait_while_any(lock, [](const Copy&) { return true; });
}

bool CopyThreads::uses(const void* memory, uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      copies_, [&](const Waiting& waiting) { return overlaps(waiting.copy, memory, bytes); });
}

bool CopyThreads::uses_place(const void* place) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(copies_,
                             [&](const Waiting& waiting) { return waiting.copy.place == place; });
}

void CopyThreads::forget(const void* memory, uint64_t bytes) {
  Lock lock(mutex_);
  wait_while_any(lock, [&](const Copy& copy) { return overlaps(copy, memory, bytes); });
  std::erase_if(failures_, [&](const Failure& one) {
    return one.way == CopyWay::to_memory && overlaps(one, memory, bytes);
  });
}

void CopyThreads::forget_place(const void* place) {
  Lock lock(mutex_);
  wait_while_any(lock, [&](const Copy& copy) { return copy.place == place; });
  std::erase_if(failures_, [&](const Failure& one) {
    return one.way == CopyWay::to_store && one.place == place;
  });
}

CopyThreads& copy_threads() {
  static auto* const threads = new CopyThreads;  // outlives every static tensor
  return *threads;
}

}  // namespace kaiseki
