// SPDX-License-Identifier: MIT
// Goes before every kernel file. INDEX counts elements: int, or long for tensors of 2^31 and more.
#ifndef INDEX
#define INDEX int
#endif

#ifndef ACTIVATION
#define ACTIVATION 0
#endif

inline float activate(float v, float slope) {
#if ACTIVATION == 1
  return v < 0 ? 0.0f : v;
#elif ACTIVATION == 2
  return v < 0 ? v * slope : v;
#elif ACTIVATION == 3
  return 1.0f / (1.0f + exp(-v));
#elif ACTIVATION == 4
  return tanh(v);
#else
  return v;
#endif
}

inline float16 activate16(float16 v, float slope) {
#if ACTIVATION == 1
  return select(v, (float16)(0), v < 0.0f);
#elif ACTIVATION == 2
  return select(v, v * slope, v < 0.0f);
#elif ACTIVATION == 3
  return 1.0f / (1.0f + exp(-v));
#elif ACTIVATION == 4
  return tanh(v);
#else
  return v;
#endif
}
