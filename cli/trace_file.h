// SPDX-License-Identifier: MIT
// The file of --trace: when the device's queues were busy during a training.
#pragma once

#include <string>
#include <vector>

#include "base/timeline.h"
#include "nn/network.h"

namespace kaiseki::cli {

/// A line for each row, such as "steps: 95.0 % busy, 5.0 % idle (the busiest row)".
std::vector<std::string> lines_of_rows(const Timeline& timeline);

/// Without a name of a file, the functions do nothing.
class TraceFile {
 public:
  /// Call it before the device is opened. Throws Error if the file cannot be written.
  explicit TraceFile(std::string file);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;

  /// The trace starts here. On the CPU, it has the network's steps.
  void start(nn::Network& network);
  /// The trace ends here.
  void stop(nn::Network& network);
  /// Writes the file and prints the rows. Throws Error if the file cannot be written.
  void write() const;
  /// After an error of the training: calls stop() and write(). Their own errors are warnings.
  void write_after_error(nn::Network& network);

 private:
  std::string file_;
  Timeline timeline_;
};

}  // namespace kaiseki::cli
