// SPDX-License-Identifier: MIT
// How JavaScript ends the running operation, which it cannot interrupt. Linked into the module with
// threads.
#include <emscripten/threading.h>
#include <sched.h>

#include "matrix/threads.h"
#include "wasm/bindings/call.h"

using kaiseki::stop_state;
using kaiseki::StopState;

KAISEKI_EXPORT std::atomic<StopState>* kaiseki_stop_flag() { return &stop_state(); }
KAISEKI_EXPORT void kaiseki_thread_fails() { stop_state() = StopState::failed; }

/// Replaces the C library's function, which makes calls that other threads wait for. The thread
/// team calls it in its waits. If a thread has trapped, the wait would last forever.
extern "C" int sched_yield() {
  if (stop_state() == StopState::failed) __builtin_trap();
  emscripten_current_thread_process_queued_calls();
  return 0;
}
