// SPDX-License-Identifier: MIT
// Where the library's messages go: a sink that the program sets. Without one they are dropped.
#pragma once

#include <functional>
#include <string_view>

namespace kaiseki {

enum class LogLevel { info, warning };

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Sets the process's sink. Any thread may log; calls of the sink do not overlap.
void set_log_sink(LogSink sink);

void log_info(std::string_view message);
void log_warning(std::string_view message);

/// Logs a warning the first time that this text is seen in this process.
void log_warning_once(std::string_view message);
/// The same by a part of it, where the rest may differ.
void log_warning_once(std::string_view part, std::string_view message);

}  // namespace kaiseki
