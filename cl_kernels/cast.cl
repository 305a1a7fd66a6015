// SPDX-License-Identifier: MIT
// y[i] = x[i] as another type. FROM and TO: double and one of float, int and uchar. INTEGER: TO is
// int or uchar. The integer part saturates, and a NaN becomes 0. BOOL: TO is the uchar of a bool.
#ifdef BOOL
#define CONVERT(v) ((v) != 0)
#elif defined(INTEGER)
#define SATURATED JOINED(JOINED(convert_, TO), _sat)
#define CONVERT(v) ((v) != (v) ? 0 : SATURATED(v))
#else
#define CONVERT(v) ((TO)(v))
#endif

__kernel void cast(INDEX n, __global const FROM* x, ulong x_at, __global TO* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i < n) y[y_at + i] = CONVERT(x[x_at + i]);
}
