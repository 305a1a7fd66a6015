// SPDX-License-Identifier: MIT
// One line for each case of a benchmark: a table on a terminal, else JSON, as report.py prints it.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/median.h"
#include "matrix/threads.h"

namespace kaiseki::bench {

/// `ratio` is above 1 if ours is better.
inline void print_case(const char* bench, const std::string& name, const std::string& peer,
                       double ours, double theirs, const char* unit, double ratio) {
  const char* format =
      isatty(STDOUT_FILENO)
          ? "%-13s  %-40s  %-14s  threads %d  ours %9.5g  theirs %9.5g %s  ratio %.3f\n"
          : "{\"bench\": \"%s\", \"case\": \"%s\", \"peer\": \"%s\", \"threads\": %d, "
            "\"ours\": %.5g, \"theirs\": %.5g, \"unit\": \"%s\", \"ratio\": %.3f}\n";
  std::printf(format, bench, name.c_str(), peer.c_str(), thread_count(), ours, theirs, unit, ratio);
  std::fflush(stdout);
}

/// The figures of runs in pairs.
struct Pairs {
  std::vector<double> ours, theirs, ratios;

  /// Times: less is better.
  void add_times(double our_time, double their_time) {
    add(our_time, their_time, their_time / our_time);
  }
  /// Work per second: more is better.
  void add_rates(double our_rate, double their_rate) {
    add(our_rate, their_rate, our_rate / their_rate);
  }
  /// Prints the medians.
  void print(const char* bench, const std::string& name, const std::string& peer,
             const char* unit) const {
    print_case(bench, name, peer, median(ours), median(theirs), unit, median(ratios));
  }

 private:
  void add(double our_figure, double their_figure, double ratio) {
    ours.push_back(our_figure);
    theirs.push_back(their_figure);
    ratios.push_back(ratio);
  }
};

}  // namespace kaiseki::bench
