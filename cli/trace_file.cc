// SPDX-License-Identifier: MIT
#include "cli/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "cli/for_option.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kaiseki::cli {
namespace {

void add_step(const nn::LayerTime& time) {
  add_to_timeline({.row = "steps",
                   .kind = time.backward ? "backward" : "forward",
                   .name = time.name,
                   .begin = time.begin,
                   .seconds = time.seconds});
}

}  // namespace

std::vector<std::string> lines_of_rows(const Timeline& timeline) {
  const double seconds = timeline.seconds();
  const std::vector<TimelineRow> rows = timeline.rows();
  const auto busiest = std::ranges::max_element(rows, {}, &TimelineRow::busy_seconds);
  std::vector<std::string> lines;
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const double share = seconds > 0 ? std::min(1.0, row->busy_seconds / seconds) : 0;
    std::string line = row->name + ": " + format_percent(share, 1) + " busy";
    if (row == busiest) line += ", " + format_percent(1 - share, 1) + " idle (the busiest row)";
    lines.push_back(std::move(line));
  }
  return lines;
}

TraceFile::TraceFile(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  for_option("--trace", [&] { expect_writable(file_); });
  start_timeline();
}

TraceFile::~TraceFile() {
  if (!file_.empty()) stop_timeline();
}

void TraceFile::start(nn::Network& network) {
  if (file_.empty()) return;
  if (network.device().is_cpu()) network.set_layer_timer(add_step);
  network.device().synchronize();
  start_timeline();
}

void TraceFile::stop(nn::Network& network) {
  if (file_.empty()) return;
  network.set_layer_timer({});
  network.device().synchronize();
  timeline_ = stop_timeline();
}

void TraceFile::write_after_error(nn::Network& network) {
  if (file_.empty()) return;
  clear_live_line();
  try {
    stop(network);
  } catch (const std::exception&) {  // the device is lost
    timeline_ = stop_timeline();
  }
  try {
    write();
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

void TraceFile::write() const {
  if (file_.empty()) return;
  for_option("--trace", [&] { write_file_atomic(file_, as_bytes(timeline_.chrome_trace())); });
  std::printf("trace       %s (%s events in %s)\n", printable(file_).c_str(),
              format_count(static_cast<int64_t>(timeline_.size())).c_str(),
              format_duration(timeline_.seconds()).c_str());
  for (const std::string& line : lines_of_rows(timeline_))
    std::printf("trace       %s\n", line.c_str());
  if (timeline_.stopped())
    log_warning("--trace: the trace stopped after " +
                format_count(static_cast<int64_t>(timeline_.size())) +
                " events; the shares are of the time before");
}

}  // namespace kaiseki::cli
