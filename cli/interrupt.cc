// SPDX-License-Identifier: MIT
#include "cli/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace kaiseki::cli {
namespace {

volatile std::sig_atomic_t flag = 0;

void on_signal(int) { flag = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A terminal that closes may send SIGHUP twice. After nohup it is ignored.
  action.sa_flags = SA_RESTART;
  struct sigaction earlier {};
  sigaction(SIGHUP, nullptr, &earlier);
  if (earlier.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

void release_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == on_signal) std::signal(signal, SIG_DFL);
  }
}

bool interrupted() { return flag != 0; }

void interrupt() { flag = 1; }

}  // namespace kaiseki::cli
