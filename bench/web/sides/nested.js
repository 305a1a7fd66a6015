// SPDX-License-Identifier: MIT
// Between typed arrays and the arrays of rows that libraries of plain JavaScript keep, outside of what is timed.
export function rows({ values, shape: [m, n] }) {
  return Array.from({ length: m }, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
}

/** A side with tasks on a library's own matrices: `make` gives one of rows, `take` gives rows back. */
export function matrixSide(make, tasks, take) {
  return {
    task(name, inputs) {
      const matrices = Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, make(rows(input))]));
      return { run: () => tasks[name](matrices), values: (results) => results.map((matrix) => take(matrix).flat()) };
    },
  };
}
