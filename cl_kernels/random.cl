// SPDX-License-Identifier: MIT
// Philox4x32-10 (Salmon et al., SC11), with the same words as matrix/random.h. KIND 0: uniform in
// [a, b). KIND 1: normal with mean a and deviation b, two words per element. KIND 2: b with
// probability a, otherwise 0. KIND 3: integers.
inline uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    uint high_a = mul_hi(0xD2511F53u, c.x), low_a = 0xD2511F53u * c.x;
    uint high_b = mul_hi(0xCD9E8D57u, c.z), low_b = 0xCD9E8D57u * c.z;
    c = (uint4)(high_b ^ c.y ^ key.x, low_b, high_a ^ c.w ^ key.y, low_a);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return c;
}

inline uint4 block_of(ulong block, ulong seed, ulong stream) {
  return philox((uint4)((uint)block, (uint)(block >> 32), (uint)stream, (uint)(stream >> 32)),
                (uint2)((uint)seed, (uint)(seed >> 32)));
}

inline uint word(ulong position, ulong seed, ulong stream) {
  uint words[4];
  vstore4(block_of(position / 4, seed, stream), 0, words);
  return words[position % 4];
}

#if KIND == 3
__kernel void random_integers(INDEX n, int low, uint range, ulong seed, ulong stream,
                              ulong position, __global int* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i < n) y[y_at + i] = (int)((uint)low + mul_hi(word(position + (ulong)i, seed, stream), range));
}
#elif KIND == 1
__kernel void random(INDEX n, float a, float b, ulong seed, ulong stream, ulong position,
                     __global float* y, ulong y_at) {
  INDEX i = get_global_id(0);
  if (i >= n) return;
  uint w = word(position + 2 * (ulong)i, seed, stream);
  float v = (float)word(position + 2 * (ulong)i + 1, seed, stream) * 0x1p-32f;
  float log_u = w < 0x80000000u ? log(((float)w + 1.0f) * 0x1p-32f)
                                : log1p(-(float)(0xFFFFFFFFu - w) * 0x1p-32f);
  y[y_at + i] = a + b * (sqrt(-2.0f * log_u) * cospi(2.0f * v));
}
#else
// Work-item i computes the four words of block position / 4 + i.
__kernel void random(INDEX n, float a, float b, ulong seed, ulong stream, ulong position,
                     __global float* y, ulong y_at) {
#pragma OPENCL FP_CONTRACT OFF
  INDEX first = 4 * (INDEX)get_global_id(0) - (INDEX)(position % 4);
  if (first >= n) return;
  float words[4];
  float4 u = convert_float4(block_of(position / 4 + get_global_id(0), seed, stream) >> 8) * 0x1p-24f;
#if KIND == 0
  float4 scaled = (b - a) * u, value = a + scaled;
  float below = b > a ? nextafter(b, a) : b;
  vstore4(select((float4)(below), value, value < b), 0, words);
#else
  vstore4(select((float4)(0.0f), (float4)(b), u < a), 0, words);
#endif
  if (first >= 0 && first + 4 <= n) {
    vstore4(vload4(0, words), 0, y + y_at + first);
  } else {
    for (int j = 0; j < 4; ++j)
      if (first + j >= 0 && first + j < n) y[y_at + first + j] = words[j];
  }
}
#endif
