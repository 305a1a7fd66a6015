// SPDX-License-Identifier: MIT
// The exceptions of the library. Every message is one line: "[operation] expected ..., got ...".
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kaiseki {

/// Base of every exception that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Arguments whose shapes, types or devices do not fit each other.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A file, or another input from outside, that is damaged, hostile or not of the expected format.
class ParseError : public Error {
 public:
  /// `source`: the file's name; `place`: where in it ("byte 16", "layers[3].params.stride").
  ParseError(std::string_view source, std::string_view place, std::string_view what);
};

/// A device or its budget has no room: bytes asked for (as the pool rounds them), in use by
/// tensors, and kept for reuse. `cause`: the call and status by which the device said so, if it
/// did.
class OutOfMemory : public Error {
 public:
  OutOfMemory(std::string_view device, uint64_t asked, uint64_t used, uint64_t cached,
              uint64_t budget, std::string_view cause = {});
  uint64_t asked, used, cached, budget;  // bytes; budget 0: no limit but the device's own
};

/// A device that is not there, or that cannot do what was asked.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A kernel that the device's driver does not build. Whoever throws it has computed nothing of the
/// operation, or only what is computed again from the same values.
class KernelError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// "[operation] " followed by all arguments, streamed.
template <typename... Args>
std::string message(std::string_view operation, const Args&... args) {
  std::ostringstream out;
  out << '[' << operation << "] ";
  (out << ... << args);
  return out.str();
}

/// Throws ShapeError with the message unless the condition holds.
template <typename... Args>
void require(bool condition, std::string_view operation, const Args&... args) {
  if (!condition) throw ShapeError(message(operation, args...));
}

/// "1.5 MiB": bytes for people.
std::string format_bytes(uint64_t bytes);

}  // namespace kaiseki
