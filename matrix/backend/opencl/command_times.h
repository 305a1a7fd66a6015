// SPDX-License-Identifier: MIT
// The times of the commands of a device's queues, for a timeline and for the device's busy time.
// OpenCL knows them if the queues are made for it.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

class CommandTimes;

/// The row of the queue that runs a device's kernels.
inline constexpr const char* kKernelRow = "kernels";

struct TimedQueue {
  cl_command_queue handle = nullptr;
  const char* row = "";           // of the timeline, such as "kernels"
  CommandTimes* times = nullptr;  // nullptr: the queue knows no times
};

/// For clCreateCommandQueue.
inline cl_command_queue_properties queue_properties(const CommandTimes* times) {
  return times ? CL_QUEUE_PROFILING_ENABLE : 0;
}

struct TimedCommand {
  const char* kind;  // such as "upload"
  std::string_view name;
  std::optional<uint64_t> bytes = {};  // of a copy
};

inline TimedCommand upload_of(uint64_t bytes) { return {"upload", "upload", bytes}; }
inline TimedCommand download_of(uint64_t bytes) { return {"download", "download", bytes}; }

/// Keeps the events of commands until their times are known.
class CommandTimes {
 public:
  /// `device`: the begin of the names of the rows.
  explicit CommandTimes(std::string device);
  ~CommandTimes();
  CommandTimes(const CommandTimes&) = delete;

  /// If thousands of commands are queued, waits for the oldest one.
  void add(const char* row, const TimedCommand& command, cl_event event) noexcept;
  /// Waits for the commands. Adds them to the timeline, and those of kKernelRow to the busy time.
  void collect();

 private:
  struct PendingCommand {
    cl_event event;
    const char *row, *kind;
    std::string name;
    std::optional<uint64_t> bytes;
  };
  /// One moment in the time of the host, in seconds, and in the device's, in nanoseconds.
  struct SharedMoment {
    double host;
    cl_ulong device;
  };
  void take_oldest();
  void note(const PendingCommand& command);

  std::string device_;
  std::mutex mutex_;
  std::deque<PendingCommand> pending_;
  std::optional<double> first_added_;  // steady_seconds()
  std::optional<SharedMoment> origin_;
};

/// Records the time of one command, if a timeline or the busy time is recorded. Give event() to the
/// command's call. The destructor must run after the call.
class CommandTimer {
 public:
  /// `done` receives the command's event. It may be nullptr.
  CommandTimer(const TimedQueue& queue, const TimedCommand& command, cl_event* done = nullptr);
  ~CommandTimer();
  CommandTimer(const CommandTimer&) = delete;
  cl_event* event() { return event_; }

 private:
  const TimedQueue& queue_;
  TimedCommand command_;
  bool records_;
  cl_event own_ = nullptr;
  cl_event* event_;
};

}  // namespace kaiseki::opencl
