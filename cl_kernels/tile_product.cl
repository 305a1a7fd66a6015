// SPDX-License-Identifier: MIT
// The inner part of products on GPUs, prepended to gemm_tiled.cl and conv_implicit_gemm.cl. A
// work-group of ITEMS_M x ITEMS_N items computes a tile of TILE_M x TILE_N. Steps of TILE_K terms
// pass through local memory. While a step is multiplied, the items load the next one to registers.
// An item computes EACH_M x EACH_N elements, in blocks of 4 x 4.
#define ITEMS (ITEMS_M * ITEMS_N)
#define EACH_M (TILE_M / ITEMS_M)
#define EACH_N (TILE_N / ITEMS_N)
// The elements of a step that one item loads.
#define LOADS_A (TILE_M * TILE_K / ITEMS)
#define LOADS_B (TILE_N * TILE_K / ITEMS)
// Vectors from one depth to the next in local memory. The last one keeps the banks apart.
#define PITCH_A (TILE_M / 4 + 1)
#define PITCH_B (TILE_N / 4 + 1)
#ifdef F64
typedef double4 REAL4;
#else
typedef float4 REAL4;
#endif

// The position in a tile of element `e` that an item loads. `width` is TILE_M or TILE_N.
// Along: four neighbors in depth. Across: four neighbors in a row of the tile.
#define ALONG_AT(e) ((item + ITEMS * ((e) / 4)) / (TILE_K / 4))
#define ALONG_DEPTH(e) ((item + ITEMS * ((e) / 4)) % (TILE_K / 4) * 4)
#define ACROSS_AT(e, width) ((item + ITEMS * ((e) / 4)) % ((width) / 4) * 4)
#define ACROSS_DEPTH(e, width) ((item + ITEMS * ((e) / 4)) / ((width) / 4))
// Single elements. Lanes: neighboring items load neighbors in depth. Columns: they load neighbors in
// a row of the tile.
#define LANE_AT(e) (item / TILE_K + ITEMS / TILE_K * (e))
#define LANE_DEPTH (item % TILE_K)
#define COLUMN_AT(width) (item % (width))
#define COLUMN_DEPTH(e, width) (item / (width) + ITEMS / (width) * (e))

// Neighboring items of 8 columns and 4 rows read few different vectors of local memory.
#define ITEM_COLUMN (item % 8 + 8 * (item / 32 % (ITEMS_N / 8)))
#define ITEM_ROW (item / 8 % 4 + 4 * (item / (4 * ITEMS_N)))
// The row and the column of an item's element [i][j] in the tile.
#define ROW_OF(i) ((i) / 4 * 4 * ITEMS_M + 4 * ITEM_ROW + (i) % 4)
#define COLUMN_OF(j) ((j) / 4 * 4 * ITEMS_N + 4 * ITEM_COLUMN + (j) % 4)

// Reads four neighbors in memory. Only the first `left` exist, and the others are 0. With `whole`,
// all four exist or none. The address is then a multiple of the vector's size.
#define LOAD4(whole, from, at, left)                                                              \
  ((whole) ? ((left) > 0 ? *(__global const REAL4*)((from) + (at)) : (REAL4)(0))                 \
           : (REAL4)((left) > 0 ? (from)[at] : 0, (left) > 1 ? (from)[(at) + 1] : 0,              \
                     (left) > 2 ? (from)[(at) + 2] : 0, (left) > 3 ? (from)[(at) + 3] : 0))

// Writes the first `left` of four neighbors.
#define STORE4(whole, into, value, left)                                    \
  do {                                                                      \
    if ((whole) && (left) > 0) *(__global REAL4*)(into) = (value);          \
    if (!(whole)) {                                                         \
      if ((left) > 0) (into)[0] = (value).s0;                               \
      if ((left) > 1) (into)[1] = (value).s1;                               \
      if ((left) > 2) (into)[2] = (value).s2;                               \
      if ((left) > 3) (into)[3] = (value).s3;                               \
    }                                                                       \
  } while (0)

// Loads and stores of all quads of an item.
#define LOAD_QUADS(next, value, count) \
  _Pragma("unroll") for (int e = 0; e < (count); e += 4) next[e / 4] = value(e);
#define STORE_QUADS(store, count) \
  _Pragma("unroll") for (int e = 0; e < (count); e += 4) { store(e); }

inline void store_along(__local REAL4* tile, int pitch, int depth, int at, REAL4 v) {
  __local REAL* to = (__local REAL*)(tile + depth * pitch) + at;
  to[0] = v.s0;
  to[4 * pitch] = v.s1;
  to[8 * pitch] = v.s2;
  to[12 * pitch] = v.s3;
}

inline void store_one(__local REAL4* tile, int pitch, int depth, int at, REAL v) {
  ((__local REAL*)(tile + depth * pitch))[at] = v;
}

// Adds the products of one step.
inline void multiply_step(__local const REAL4* a, __local const REAL4* b, int row, int column,
                          REAL sum[EACH_M][EACH_N]) {
  // Compilers keep the vectors of all unrolled terms in registers at once. More than two terms
  // leave room for fewer work-groups. On an H200, 8 terms gave 60 % of the speed.
#pragma unroll 2
  for (int depth = 0; depth < TILE_K; ++depth) {
    REAL left[EACH_M], right[EACH_N];
#pragma unroll
    for (int i = 0; i < EACH_M; i += 4) {
      const REAL4 v = a[depth * PITCH_A + i / 4 * ITEMS_M + row];
      left[i] = v.s0, left[i + 1] = v.s1, left[i + 2] = v.s2, left[i + 3] = v.s3;
    }
#pragma unroll
    for (int j = 0; j < EACH_N; j += 4) {
      const REAL4 v = b[depth * PITCH_B + j / 4 * ITEMS_N + column];
      right[j] = v.s0, right[j + 1] = v.s1, right[j + 2] = v.s2, right[j + 3] = v.s3;
    }
#pragma unroll
    for (int i = 0; i < EACH_M; ++i)
#pragma unroll
      for (int j = 0; j < EACH_N; ++j) sum[i][j] = fma(left[i], right[j], sum[i][j]);
  }
}
