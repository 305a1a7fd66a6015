// SPDX-License-Identifier: MIT
// The library's own thread pool, shared by all operations on the CPU.
#pragma once

#include <cstdint>
#include <functional>

namespace kaiseki {

/// Threads that operations use, the calling one included. Starts at KAISEKI_THREADS, else one for
/// each core that this process may run on; fewer, with a warning, where the system gives no more.
int thread_count();

/// 0 restores the default. Not while another thread computes.
void set_thread_count(int threads);

/// Calls body(begin, end) over disjoint pieces of 0..count, on the pool and on the calling thread,
/// and returns when all have run. Pieces hold at most `grain` indices and are cut in the same
/// places whatever the number of threads: per-piece sums added in order are therefore the same with
/// any number. Nested calls, and calls while another thread's is running, run on the calling
/// thread. The first exception is rethrown here.
void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace kaiseki
