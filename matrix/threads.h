// SPDX-License-Identifier: MIT
// The library's thread team. All operations on the CPU share it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace kaiseki {

/// The number of threads that operations use, including the calling one. The initial value is
/// KAISEKI_THREADS, else one per core that this process may run on. If the system provides fewer
/// threads, a warning is logged.
int thread_count();

/// 0 restores the default. Must not be called while another thread computes.
void set_thread_count(int threads);

/// If not 0, the running operation ends with an Error as soon as it can, and so do later ones. For
/// WebAssembly, where nothing else can end an operation.
inline std::atomic<int32_t> stop_flag{0};
[[noreturn]] void throw_stopped();
/// Throws Error if stop_flag is not 0. Long work calls it many times a second. parallel_for() calls
/// it before each piece.
inline void throw_if_stopped() {
  if (stop_flag.load(std::memory_order_relaxed)) throw_stopped();
}

/// Calls body(begin, end) over disjoint pieces of 0..count, on the team and the calling thread.
/// Returns when all pieces have run. A piece has at most `grain` indices. The pieces do not depend
/// on the number of threads, so sums per piece, added in order, do not either. Nested calls run on
/// the calling thread, and so do calls while another thread's call is running. The first exception
/// is rethrown here.
void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace kaiseki
