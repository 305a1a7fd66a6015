// SPDX-License-Identifier: MIT

/** The objects of a Type that the result of a tidy() keeps: itself, or its values. */
export function keptOf(result, Type) {
  if (result instanceof Type) return new Set([result]);
  return new Set(ArrayBuffer.isView(result) ? [] : Object.values(result ?? {}).filter((value) => value instanceof Type));
}
