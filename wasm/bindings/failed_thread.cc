// SPDX-License-Identifier: MIT
// Ends an operation when one of its threads has trapped. The operation would wait for the thread
// forever. Linked into the module with threads.
#include <sched.h>

#include <atomic>

#include "wasm/bindings/call.h"

namespace {

std::atomic<bool> failed{false};

}  // namespace

/// The script of a thread calls it after a trap.
KAISEKI_EXPORT void kaiseki_thread_fails() { failed = true; }
KAISEKI_EXPORT bool kaiseki_has_failed_thread() { return failed; }

/// Replaces the C library's function, which does nothing. The thread team calls it in its waits.
extern "C" int sched_yield() {
  if (failed) __builtin_trap();
  return 0;
}
