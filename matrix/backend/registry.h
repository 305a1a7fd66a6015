// SPDX-License-Identifier: MIT
// The registry of backends: the available backends, their devices, and the reason if a backend has
// none. Backend::has() tells which operations a device supports. The list is in
// cmake/backends.cmake.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "matrix/backend/entry.h"

namespace kaiseki {

/// All backends. The CPU is the first and has one device.
std::span<const BackendEntry* const> backends();
/// "cpu, opencl, opencl:N or auto"
std::string device_forms();
/// Returns whether the text has one of these forms. The device itself may not exist.
bool names_device(std::string_view text);

/// Throws DeviceError if there is no backend of this name.
const BackendEntry& find_backend(std::string_view name);

/// Appends a backend that the program provides. The entry must live until the program ends.
void add_backend(const BackendEntry& entry);

/// Returns the CPU backend, which implements all operations.
Backend& cpu_backend();

}  // namespace kaiseki
