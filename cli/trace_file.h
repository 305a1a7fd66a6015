// SPDX-License-Identifier: MIT
// The file of --trace: when the device's queues were busy during a training.
#pragma once

#include <string>

#include "base/timeline.h"
#include "nn/network.h"

namespace kaiseki::cli {

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

 private:
  std::string file_;
  Timeline timeline_;
};

}  // namespace kaiseki::cli
