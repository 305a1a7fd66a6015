// SPDX-License-Identifier: MIT
#include "wasm/bindings/call.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "matrix/backend/backend.h"
#include "matrix/device.h"
#include "matrix/memory/allocator.h"
#include "matrix/threads.h"
#include "matrix/tune/policy.h"

namespace kaiseki::wasm {
namespace {

struct Failure {
  bool pending = false;
  char text[4096];  // the kind, a line feed, the message
} failure;

void store(const char* kind, const char* what) noexcept {
  failure.pending = true;
  const size_t name = std::strlen(kind);
  std::memcpy(failure.text, kind, name);
  failure.text[name] = '\n';
  const size_t length = std::min(std::strlen(what), sizeof failure.text - name - 2);
  std::memcpy(failure.text + name + 1, what, length);
  failure.text[name + 1 + length] = 0;
}

/// The bytes of the last call that returned bytes.
ByteVector result;

}  // namespace

const std::byte* return_bytes(ByteVector&& bytes) {
  result = std::move(bytes);
  return result.data();
}

const std::byte* return_text(std::string_view text) {
  const ByteView bytes = as_bytes(text);
  ByteVector ended(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), ended.begin());
  return return_bytes(std::move(ended));
}

/// Returns the number of bytes that the last call returned.
KAISEKI_EXPORT double kaiseki_result_size() { return static_cast<double>(result.size()); }

void store_failure() noexcept {
  try {
    throw;
  } catch (const OutOfMemory& error) {
    store("OutOfMemory", error.what());
  } catch (const ShapeError& error) {
    store("ShapeError", error.what());
  } catch (const ParseError& error) {
    store("ParseError", error.what());
  } catch (const std::bad_alloc&) {
    store("OutOfMemory", "[memory] out of memory");
  } catch (const std::exception& error) {
    store("Error", error.what());
  } catch (...) {
    store("Error", "[wasm] unknown exception");
  }
}

/// Returns the last call's exception as "KIND\nMESSAGE" and clears it. Returns null if there was
/// none.
KAISEKI_EXPORT const char* kaiseki_failure() {
  return std::exchange(failure.pending, false) ? failure.text : nullptr;
}

KAISEKI_EXPORT int kaiseki_live_handles() { return live_handles; }

/// Writes three byte counts: in use by tensors, cached by the allocator, and the peak of their sum.
KAISEKI_EXPORT void kaiseki_memory(double* account) {
  const MemoryAccount now = Device::cpu().memory().account();
  account[0] = static_cast<double>(now.in_use);
  account[1] = static_cast<double>(now.cached);
  account[2] = static_cast<double>(now.peak);
}

/// Frees the allocator's cached memory.
KAISEKI_EXPORT void kaiseki_trim() { Device::cpu().memory().trim(); }

/// Must be the first call. Convolutions are not measured, because results must not depend on time:
/// other nodes verify them.
KAISEKI_EXPORT int kaiseki_start(int threads) {
  return guarded([&] {
    set_tune_policy({TuneMode::off, true});
    set_thread_count(threads);
    return thread_count();
  });
}

}  // namespace kaiseki::wasm
