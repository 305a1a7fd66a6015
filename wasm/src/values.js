// SPDX-License-Identifier: MIT
// Numbers on their way to the module, which would wrap or cut what does not fit.
import { expect } from './error.js';

export const ARRAYS = { f32: Float32Array, i32: Int32Array, u8: Uint8Array, bool: Uint8Array };
export const NAMES = Object.keys(ARRAYS);

export function checkType(dtype) {
  expect(NAMES.includes(dtype), 'tensor', `a type among ${NAMES.join(', ')}`, dtype);
}

/** Whether an array's memory has been given away: it is of length 0 then, and of its buffer no view can be made. */
function isGone({ length, buffer }) {
  if (length !== 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Plain numbers as elements of a type; typed arrays as they are. */
export function elements(values, dtype = 'f32') {
  if (ArrayBuffer.isView(values)) expect(!isGone(values), 'tensor', 'an array with its memory', 'one whose memory was transferred');
  if (!Array.isArray(values)) return values;
  checkType(dtype);
  const array = ARRAYS[dtype].from(values);
  const fits = dtype === 'bool' ? (value) => [0, 1, false, true].includes(value)
    : (value, i) => typeof value === 'number' && (dtype === 'f32' || value === array[i]);
  const wrong = values.findIndex((value, i) => !fits(value, i));
  expect(wrong < 0, 'tensor', `values of ${dtype}`, values[wrong]);
  return array;
}

export function whole(value) {
  expect(Number.isInteger(value) && (value | 0) === value, 'tensor', 'a whole number of 32 bits', value);
  return value;
}

export function natural(value, place = 'seed') {
  expect(Number.isInteger(value) && value >= 0 && value <= 2 ** 53, place, 'a whole number from 0 to 2^53', value);
  return value;
}

export function rate(value) {
  expect(Number.isFinite(value) && value >= 0, 'train', 'a learning rate of 0 or more', value);
  return value;
}
