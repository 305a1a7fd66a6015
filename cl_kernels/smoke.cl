// SPDX-License-Identifier: MIT
// The first kernel that a device runs. It checks that the device compiles, uses local memory and
// computes correctly.
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void smoke(float scale,
                                                                    __global float* y) {
  __local float turned[16];
  int i = get_global_id(0), l = get_local_id(0);
  turned[15 - l] = scale * (i - l + (15 - l)) + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  y[i] = turned[l];
}
