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

enum class StopState : int32_t { runs, asked, failed };  // failed: a thread has ended in the middle
/// Where another thread ends the running operation: unless it is `runs`, operations throw Error as
/// soon as they can. For WebAssembly, where nothing else can end them.
std::atomic<StopState>& stop_state();
/// Throws Error unless the state is `runs`. Long work calls it many times a second. parallel_for()
/// calls it before each piece.
void throw_if_stopped();

/// Calls body(begin, end) over disjoint pieces of 0..count, on the team and the calling thread.
/// Returns when all pieces have run. A piece has at most `grain` indices. The pieces do not depend
/// on the number of threads, so sums per piece, added in order, do not either. Nested calls run on
/// the calling thread, and so do calls while another thread's call is running. The first exception
/// is rethrown here.
void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& body);

}  // namespace kaiseki
