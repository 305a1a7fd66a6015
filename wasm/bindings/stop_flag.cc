// SPDX-License-Identifier: MIT
// A flag that ends the running operation, which JavaScript cannot interrupt. A thread that traps
// sets it, because the operation would wait for the thread forever. Linked into the module with
// threads.
#include <emscripten/threading.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "matrix/threads.h"
#include "wasm/bindings/call.h"

namespace {

constexpr int32_t kAsked = 1, kFailed = 2;  // 0: the library works
std::atomic<int32_t> flag{0};

}  // namespace

KAISEKI_EXPORT std::atomic<int32_t>* kaiseki_stop_flag() { return &flag; }
KAISEKI_EXPORT void kaiseki_thread_fails() { flag = kFailed; }

/// Replaces the C library's function, which makes calls that other threads wait for. The thread
/// team calls it in its waits, and a team of one thread before each piece. If JavaScript asked for
/// the end, the threads end first. A browser ends a sleeping thread only after two seconds.
extern "C" int sched_yield() {
  int32_t asked = kAsked;
  if (flag.compare_exchange_strong(asked, kFailed)) kaiseki::set_thread_count(1);
  if (flag) __builtin_trap();
  emscripten_current_thread_process_queued_calls();
  return 0;
}
