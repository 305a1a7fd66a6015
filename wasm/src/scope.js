// SPDX-License-Identifier: MIT

/** Returns the objects of a Type that tidy() keeps: the result itself, or its values. */
export function retained(result, Type) {
  if (result instanceof Type) return new Set([result]);
  return new Set(
    ArrayBuffer.isView(result) ? [] : Object.values(result ?? {}).filter((value) => value instanceof Type),
  );
}
