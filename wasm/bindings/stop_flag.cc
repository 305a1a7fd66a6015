// SPDX-License-Identifier: MIT
// How JavaScript ends the running operation, which it cannot interrupt. Linked into the module with
// threads.
#include <emscripten/threading.h>
#include <sched.h>

#include "matrix/threads.h"
#include "wasm/bindings/call.h"

namespace {

constexpr int32_t kFailed = 2;  // 1: JavaScript asks for the end

}  // namespace

KAISEKI_EXPORT std::atomic<int32_t>* kaiseki_stop_flag() { return &kaiseki::stop_flag; }
KAISEKI_EXPORT void kaiseki_thread_fails() { kaiseki::stop_flag = kFailed; }

/// Replaces the C library's function, which makes calls that other threads wait for. The thread
/// team calls it in its waits. If a thread has trapped, the wait would last forever.
extern "C" int sched_yield() {
  if (kaiseki::stop_flag == kFailed) __builtin_trap();
  emscripten_current_thread_process_queued_calls();
  return 0;
}
