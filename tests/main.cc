// SPDX-License-Identifier: MIT
// The main function of every test executable.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "matrix/backend/small_tasks.h"

namespace {

// Most tests are small tasks, and they should test the kernels of every device.
[[maybe_unused]] const bool on_device = [] {
  kaiseki::set_small_tasks_on_cpu(false);
  return true;
}();

}  // namespace
