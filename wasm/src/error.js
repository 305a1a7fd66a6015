// SPDX-License-Identifier: MIT

/** An error of the library: its message is the one that the native library gives. */
export class KaisekiError extends Error {
  /** @param {string} kind Error, ShapeError, ParseError or OutOfMemory */
  constructor(kind, message) {
    super(message);
    this.name = 'KaisekiError';
    this.kind = kind;
  }
}

/** Throws unless it is so. */
export function expect(so, place, expected, got) {
  if (!so) throw new KaisekiError('Error', `[${place}] expected ${expected}, got ${typeof got === 'object' ? 'an object' : String(got)}`);
}
