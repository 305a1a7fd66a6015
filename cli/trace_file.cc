// SPDX-License-Identifier: MIT
#include "cli/trace_file.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "cli/for_option.h"
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

void print_rows(const Timeline& timeline) {
  const std::vector<TimelineRow> rows = timeline.rows();
  const auto busiest = std::ranges::max_element(rows, {}, &TimelineRow::busy_seconds);
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const double share = row->busy_seconds / timeline.seconds();
    const std::string idle =
        row == busiest ? ", " + format_percent(1 - share, 1) + " idle (the busiest row)" : "";
    std::printf("trace       %s: %s busy%s\n", row->name.c_str(), format_percent(share, 1).c_str(),
                idle.c_str());
  }
}

}  // namespace

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

void TraceFile::write() const {
  if (file_.empty()) return;
  for_option("--trace", [&] { write_file_atomic(file_, as_bytes(timeline_.chrome_trace())); });
  std::printf("trace       %s (%s events in %s)\n", printable(file_).c_str(),
              format_count(static_cast<int64_t>(timeline_.size())).c_str(),
              format_duration(timeline_.seconds()).c_str());
  print_rows(timeline_);
  if (timeline_.stopped())
    log_warning("--trace: the trace stopped after " +
                format_count(static_cast<int64_t>(timeline_.size())) +
                " events; the shares are of the time before");
}

}  // namespace kaiseki::cli
