// SPDX-License-Identifier: MIT
// Prepended to every kernel file. INDEX counts elements: int, or long for tensors of 2^31 elements
// or more. REAL is float, or double with F64. Kernels that compute LANES results at once use VEC.
// On CPUs, WIDE requests the widest vectors.
#ifndef INDEX
#define INDEX int
#endif

#ifdef F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#else
#define REAL float
#endif

#ifndef ACTIVATION
#define ACTIVATION 0
#endif

#define PASTE(a, b) a##b
#define JOINED(name, lanes) PASTE(name, lanes)
#if defined(LANES) && LANES == 1
typedef float VEC;
#define WIDE
#else
#define WIDE __attribute__((min_vector_width(512)))
#endif
#if defined(LANES) && LANES > 1
typedef JOINED(float, LANES) VEC;
#define LOAD JOINED(vload, LANES)
#define STORE JOINED(vstore, LANES)
#endif

inline REAL activate(REAL v, float slope) {
#if ACTIVATION == 1
  return v < 0 ? 0.0f : v;
#elif ACTIVATION == 2
  return v < 0 ? v * slope : v;
#elif ACTIVATION == 3
  return 1.0f / (1.0f + exp(-v));
#elif ACTIVATION == 4
  return tanh(v);
#elif ACTIVATION
#error "this activation has no OpenCL code"
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
#elif ACTIVATION
#error "this activation has no OpenCL code"
#else
  return v;
#endif
}
