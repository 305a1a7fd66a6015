// SPDX-License-Identifier: MIT
// KAISEKI_SLOW: 1 in builds that compute many times slower, so that tests do less work.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__EMSCRIPTEN__) || \
    !defined(__OPTIMIZE__)
#define KAISEKI_SLOW 1
#elif defined(__has_feature)
#define KAISEKI_SLOW (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define KAISEKI_SLOW 0
#endif
