// SPDX-License-Identifier: MIT
// The log. Messages go to a sink that the program sets. Without a sink, they are discarded.
#pragma once

#include <functional>
#include <string_view>

namespace kaiseki {

enum class LogLevel { info, warning };

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Sets the process's sink. Any thread may log. Calls of the sink do not overlap.
void set_log_sink(LogSink sink);

void log_info(std::string_view message);
void log_warning(std::string_view message);

/// Logs a warning the first time that this process sees this text.
void log_warning_once(std::string_view message);
/// The same, but compares only `part`, so the rest of the message may differ.
void log_warning_once(std::string_view part, std::string_view message);

}  // namespace kaiseki
