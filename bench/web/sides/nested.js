// SPDX-License-Identifier: MIT
// Converts typed arrays to and from arrays of rows, as plain JavaScript libraries use them. The conversion is not
// timed.
export function rows({ values, shape: [m, n] }) {
  return Array.from({ length: m }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
}

/** A side whose tasks use a library's own matrices. `make` converts from rows, `take` converts to rows. */
export function matrixSide(make, tasks, take) {
  return {
    task(name, inputs) {
      const matrices = Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, make(rows(input))]));
      return { run: () => tasks[name](matrices), values: (results) => results.map((matrix) => take(matrix).flat()) };
    },
  };
}
