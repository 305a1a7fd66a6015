// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/command_times.h"

#include <new>
#include <string_view>
#include <utility>

#include "base/busy_time.h"
#include "base/timeline.h"

namespace kaiseki::opencl {
namespace {

constexpr size_t kMostPending = 4096;

std::optional<cl_ulong> profiled(cl_event event, cl_profiling_info what) {
  cl_ulong nanoseconds = 0;
  const cl_int status =
      cl().clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr);
  return status == CL_SUCCESS ? std::optional(nanoseconds) : std::nullopt;
}

}  // namespace

CommandTimes::CommandTimes(std::string device) : device_(std::move(device)) {
  add_busy_seconds(device_, 0);
}

CommandTimes::~CommandTimes() {
  for (const PendingCommand& command : pending_) cl().clReleaseEvent(command.event);
}

void CommandTimes::add(const char* row, const TimedCommand& command, cl_event event) noexcept {
  try {
    std::lock_guard lock(mutex_);
    if (!first_added_) first_added_ = steady_seconds();
    pending_.push_back({event, row, command.kind, std::string(command.name), command.bytes});
    cl().clRetainEvent(event);
    if (pending_.size() > kMostPending) take_oldest();
  } catch (const std::bad_alloc&) {  // without this event
  }
}

void CommandTimes::collect() {
  std::lock_guard lock(mutex_);
  while (!pending_.empty()) take_oldest();
}

void CommandTimes::take_oldest() {
  const PendingCommand command = std::move(pending_.front());
  pending_.pop_front();
  if (cl().clWaitForEvents(1, &command.event) == CL_SUCCESS) note(command);
  cl().clReleaseEvent(command.event);
}

// The first command was queued just before it was added. This relates the two clocks.
void CommandTimes::note(const PendingCommand& command) {
  const auto queued = profiled(command.event, CL_PROFILING_COMMAND_QUEUED),
             start = profiled(command.event, CL_PROFILING_COMMAND_START),
             end = profiled(command.event, CL_PROFILING_COMMAND_END);
  if (!queued || !start || !end || *end < *start) return;
  if (!origin_) origin_ = {*first_added_, *queued};
  const double seconds = 1e-9 * static_cast<double>(*end - *start);
  // The commands of a queue run one after another, so their times are added.
  if (std::string_view(command.row) == kKernelRow) add_busy_seconds(device_, seconds);
  const auto since = static_cast<int64_t>(*start - origin_->device);
  add_to_timeline({.row = device_ + " " + command.row,
                   .kind = command.kind,
                   .name = command.name,
                   .begin = origin_->host + 1e-9 * static_cast<double>(since),
                   .seconds = seconds,
                   .bytes = command.bytes});
}

CommandTimer::CommandTimer(const TimedQueue& queue, const TimedCommand& command, cl_event* done)
    : queue_(queue),
      command_(command),
      records_(queue.times && (timeline_records() || busy_time_is_measured())),
      event_(done || !records_ ? done : &own_) {}

CommandTimer::~CommandTimer() {
  if (records_ && *event_) queue_.times->add(queue_.row, command_, *event_);
  if (own_) cl().clReleaseEvent(own_);
}

}  // namespace kaiseki::opencl
