// SPDX-License-Identifier: MIT
// The border to JavaScript: plain functions on handles. A function that throws gives 0, and leaves
// the exception for kaiseki_failure().
#pragma once

#include <emscripten.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "matrix/error.h"
#include "matrix/shape.h"
#include "nn/io/bytes.h"

#define KAISEKI_EXPORT extern "C" EMSCRIPTEN_KEEPALIVE

namespace kaiseki::wasm {

/// Keeps the exception that is being handled; needs no memory.
void keep_failure() noexcept;

/// Keeps bytes for JavaScript, which copies them before its next call.
const std::byte* give(nn::ByteVector&& bytes);
/// The same for a text, with a 0 at its end.
const std::byte* give_text(std::string_view text);

/// Handles of tensors, networks and optimizers that JavaScript holds.
inline int live_handles = 0;

template <class Body>
auto guarded(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    keep_failure();
    return {};
  }
}

/// A new handle.
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
