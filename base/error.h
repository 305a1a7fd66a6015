// SPDX-License-Identifier: MIT
// The exceptions of the library. Messages are one line: "[operation] expected X, got Y", or
// "[operation]" and the cause. A ParseError begins with the name of the file instead.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/text.h"

namespace kaiseki {

/// The base class of all exceptions that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes, types or devices of the arguments do not match.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A file or other external input is damaged, hostile or not in the expected format.
class ParseError : public Error {
 public:
  /// `source`: the file's name. `place`: the position in it ("byte 16", "layers[3].params.stride").
  ParseError(std::string_view source, std::string_view place, std::string_view what);
};

/// A device or its budget has no room. `asked` is the requested size as the allocator rounds it.
/// `used` is the bytes of tensors, and `cached` the bytes kept for reuse. `cause` is the failed
/// call and its status, if the device reported one.
class OutOfMemory : public Error {
 public:
  OutOfMemory(std::string_view device, uint64_t asked, uint64_t used, uint64_t cached,
              uint64_t budget, std::string_view cause = {});
  uint64_t asked, used, cached, budget;  // bytes; budget 0: no limit except the device's own
};

/// A device that does not exist, or that cannot do the operation.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A kernel that the device's driver fails to build. Code that throws it must not have computed
/// anything, except values that are computed again from the same inputs.
class KernelError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// Returns "[operation] " followed by all arguments.
template <typename... Args>
std::string message(std::string_view operation, const Args&... args) {
  return text_from('[', operation, "] ", args...);
}

/// Throws ShapeError with the message if the condition is false.
template <typename... Args>
void require(bool condition, std::string_view operation, const Args&... args) {
  if (!condition) throw ShapeError(message(operation, args...));
}

/// Bytes in a readable form, such as "1.5 MiB".
std::string format_bytes(uint64_t bytes);

}  // namespace kaiseki
