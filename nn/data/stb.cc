// SPDX-License-Identifier: MIT
// Compiles stb_image, with JPEG and PNG, from memory only.
#include "nn/data/stb.h"

#include <cstdint>
#include <cstdlib>

namespace {

thread_local size_t largest_piece = SIZE_MAX;

/// Returns zeros. A JPEG may use a table that it does not define, or end before its last pixel.
void* stb_malloc(size_t bytes) { return bytes > largest_piece ? nullptr : std::calloc(1, bytes); }

void* stb_realloc(void* block, size_t bytes) {
  return bytes > largest_piece ? nullptr : std::realloc(block, bytes);
}

}  // namespace

namespace kaiseki::nn {

StbLimit::StbLimit(size_t bytes) { largest_piece = bytes; }
StbLimit::~StbLimit() { largest_piece = SIZE_MAX; }

}  // namespace kaiseki::nn

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-function"
#define STBI_MALLOC(bytes) stb_malloc(bytes)
#define STBI_REALLOC(block, bytes) stb_realloc(block, bytes)
#define STBI_FREE(block) std::free(block)
#define STBI_ASSERT(condition) (static_cast<void>(0))  // some of them fail for damaged files
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_MAX_DIMENSIONS 65536  // picture_info() has a lower limit and names it
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>  // the patched copy from CMakeLists.txt
#pragma GCC diagnostic pop
