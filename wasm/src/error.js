// SPDX-License-Identifier: MIT

/** An error of the library. Its message is the native library's. */
export class KaisekiError extends Error {
  /** @param {string} kind Error, ShapeError, ParseError, OutOfMemory or Closed */
  constructor(kind, message) {
    super(message);
    this.name = 'KaisekiError';
    this.kind = kind;
  }
}

/** Throws a KaisekiError unless `condition` holds. */
export function expect(condition, operation, expected, got) {
  if (!condition)
    throw new KaisekiError(
      'Error',
      `[${operation}] expected ${expected}, got ${typeof got === 'object' ? 'an object' : String(got)}`,
    );
}
