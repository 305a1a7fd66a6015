// SPDX-License-Identifier: MIT
#include "dist/pool/crash_point.h"

namespace kaiseki::dist {
namespace {
CrashHook crash_hook = nullptr;
}

void set_crash_hook(CrashHook hook) { crash_hook = hook; }

void crash_point(std::string_view point) {
  if (crash_hook) crash_hook(point);
}

}  // namespace kaiseki::dist
