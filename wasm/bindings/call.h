// SPDX-License-Identifier: MIT
// The interface to JavaScript: plain functions on handles. If a function throws, it returns 0 and
// stores the exception for kaiseki_failure().
#pragma once

#include <emscripten.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "matrix/shape.h"

#define KAISEKI_EXPORT extern "C" EMSCRIPTEN_KEEPALIVE

namespace kaiseki::wasm {

/// Stores the exception that is being handled. Allocates no memory.
void store_failure() noexcept;

/// Stores bytes for JavaScript, which copies them before its next call.
const std::byte* return_bytes(ByteVector&& bytes);
/// Stores a text, with a 0 at its end.
const std::byte* return_text(std::string_view text);

/// The number of tensors, networks and optimizers that JavaScript holds.
inline int live_handles = 0;

template <class Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    store_failure();
    return {};
  }
}

/// Moves `value` into a new handle.
template <class T>
T* handle(T&& value) {
  T* object = new T(std::move(value));
  ++live_handles;
  return object;
}

template <class T>
void release(T* object) {
  delete object;
  --live_handles;
}

inline Shape shape_of(const int32_t* dims, int rank) {
  require(rank >= 0 && rank <= Shape::kMaxRank, "tensor", "expected at most ", Shape::kMaxRank,
          " dimensions, got ", rank);
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(dims[i]);
  return shape;
}

}  // namespace kaiseki::wasm
