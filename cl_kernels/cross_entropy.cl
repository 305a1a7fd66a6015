// SPDX-License-Identifier: MIT
// Softmax cross-entropy of rows with labels. A label outside 0..classes-1 (such as -1) is ignored:
// loss and gradient are 0. One work-item per row.
__kernel void cross_entropy_forward(INDEX rows, INDEX classes, __global const float* x, ulong x_at,
                                    __global const int* labels, ulong labels_at,
                                    __global float* probabilities, ulong probabilities_at,
                                    __global float* losses, ulong losses_at) {
  INDEX row = get_global_id(0);
  if (row >= rows) return;
  x += x_at + row * classes;
  probabilities += probabilities_at + row * classes;
  float largest = -INFINITY, total = 0;
  for (INDEX i = 0; i < classes; ++i) largest = fmax(largest, x[i]);
  for (INDEX block = 0; block < classes; block += 64) {
    float part = 0;
    for (INDEX i = block; i < min(classes, block + 64); ++i) {
      probabilities[i] = exp(x[i] - largest);
      part += probabilities[i];
    }
    total += part;
  }
  float scale = 1.0f / total;
  for (INDEX i = 0; i < classes; ++i) probabilities[i] *= scale;
  int label = labels[labels_at + row];
  losses[losses_at + row] =
      label >= 0 && label < classes ? log(total) + (largest - x[label]) : 0.0f;
}

__kernel void cross_entropy_backward(INDEX total, INDEX classes, float scale,
                                     __global const float* probabilities, ulong probabilities_at,
                                     __global const int* labels, ulong labels_at,
                                     __global float* dx, ulong dx_at) {
  INDEX i = get_global_id(0);
  if (i >= total) return;
  int label = labels[labels_at + i / classes];
  float p = probabilities[probabilities_at + i] - (label == i % classes ? 1.0f : 0.0f);
  dx[dx_at + i] = label >= 0 && label < classes ? scale * p : 0.0f;
}
