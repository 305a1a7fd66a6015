// SPDX-License-Identifier: MIT
// The exceptions of the library. Messages are one line: "[operation] expected X, got Y", or
// "[operation]" and the cause. A ParseError begins with the name of the file instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace kaiseki {

/// The text of an error, such as "[gemm] expected 2 dimensions, got 3". The place is "[gemm]". The
/// rest is the cause. A Message may be used as a string.
struct Message {
  std::string text;
  size_t cause_at = 0;  // where the cause begins in the text

  operator std::string() const& { return text; }
  operator std::string() && { return std::move(text); }
  operator std::string_view() const { return text; }
};

/// Returns the message with the text at its end.
inline Message operator+(Message message, std::string_view end) {
  message.text += end;
  return message;
}

/// The base class of all exceptions that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  explicit Error(const Message& message)
      : std::runtime_error(message.text), cause_at_(message.cause_at) {}

  /// The text without the place "[operation] ". If the text has no place, this is the whole text.
  std::string_view cause() const;
  /// The text and its place. An error made from this message has the same cause.
  Message as_message() const { return {what(), cause_at_}; }

 private:
  size_t cause_at_ = 0;
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

  /// "PLACE: WHAT", the text without the file's name. cause() is the whole text.
  std::string_view without_source() const;

 private:
  size_t place_at_;  // where the place begins in the text
};

/// A device or its budget has no room. `cause` is the failed call and its status, if the device
/// reported one.
class OutOfMemory : public Error {
 public:
  struct Bytes {
    uint64_t asked = 0;   // as the allocator rounds it
    uint64_t used = 0;    // of tensors
    uint64_t cached = 0;  // kept for reuse
    uint64_t budget = 0;  // 0: no limit except the device's own
  };
  OutOfMemory(std::string_view device, const Bytes& bytes, std::string_view cause = {});
  /// The same error with the work that needed the memory: "the forward step of layer conv1".
  OutOfMemory(const OutOfMemory& error, std::string_view work);
  Bytes bytes;
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
Message message(std::string_view operation, const Args&... args) {
  return {text_from('[', operation, "] ", args...), operation.size() + 3};
}

/// Throws ShapeError with the message if the condition is false.
template <typename... Args>
void require(bool condition, std::string_view operation, const Args&... args) {
  if (!condition) throw ShapeError(message(operation, args...));
}

/// Bytes in a readable form, such as "1.5 MiB".
std::string format_bytes(uint64_t bytes);

}  // namespace kaiseki
