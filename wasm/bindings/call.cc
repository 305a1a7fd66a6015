// SPDX-License-Identifier: MIT
#include "wasm/bindings/call.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "matrix/backend.h"
#include "matrix/conv/tuning.h"
#include "matrix/device.h"
#include "matrix/memory/pool.h"
#include "matrix/threads.h"

namespace kaiseki::wasm {
namespace {

struct Failure {
  bool there = false;
  char text[4096];  // the kind, a line feed, the message
} failure;

void keep(const char* kind, const char* what) noexcept {
  failure.there = true;
  const size_t name = std::strlen(kind);
  std::memcpy(failure.text, kind, name);
  failure.text[name] = '\n';
  const size_t length = std::min(std::strlen(what), sizeof failure.text - name - 2);
  std::memcpy(failure.text + name + 1, what, length);
  failure.text[name + 1 + length] = 0;
}

/// Of the last call that gives some.
nn::ByteVector result;

}  // namespace

const std::byte* give(nn::ByteVector&& bytes) {
  result = std::move(bytes);
  return result.data();
}

const std::byte* give_text(std::string_view text) {
  const nn::ByteView bytes = nn::as_bytes(text);
  nn::ByteVector ended(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), ended.begin());
  return give(std::move(ended));
}

/// How many bytes the last call gave.
KAISEKI_EXPORT double kaiseki_result_size() { return static_cast<double>(result.size()); }

void keep_failure() noexcept {
  try {
    throw;
  } catch (const OutOfMemory& error) {
    keep("OutOfMemory", error.what());
  } catch (const ShapeError& error) {
    keep("ShapeError", error.what());
  } catch (const ParseError& error) {
    keep("ParseError", error.what());
  } catch (const std::bad_alloc&) {
    keep("OutOfMemory", "[memory] expected more memory, got none");
  } catch (const std::exception& error) {
    keep("Error", error.what());
  } catch (...) {
    keep("Error", "[wasm] expected an exception of the library, got another");
  }
}

/// What the last call threw, as "KIND\nMESSAGE", once; else null.
KAISEKI_EXPORT const char* kaiseki_failure() {
  return std::exchange(failure.there, false) ? failure.text : nullptr;
}

KAISEKI_EXPORT int kaiseki_live_handles() { return live_handles; }

/// Bytes of tensors in use, freed and kept, and the peak of both.
KAISEKI_EXPORT void kaiseki_memory(double* account) {
  const MemoryAccount now = Device::cpu().memory().account();
  account[0] = static_cast<double>(now.in_use);
  account[1] = static_cast<double>(now.cached);
  account[2] = static_cast<double>(now.peak);
}

/// Gives freed memory back, for tensors of other sizes.
KAISEKI_EXPORT void kaiseki_trim() { Device::cpu().memory().trim(); }

/// To be called first. Convolutions are not measured: what a module computes must not depend on
/// time, so that others can verify it.
KAISEKI_EXPORT int kaiseki_start(int threads) {
  return guarded([&] {
    set_conv_policy({TuneMode::off, true});
    set_thread_count(threads);
    return thread_count();
  });
}

}  // namespace kaiseki::wasm
