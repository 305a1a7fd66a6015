// SPDX-License-Identifier: MIT
// Checks of numbers for the module, which would wrap or truncate them.
import { expect } from './error.js';

export const ARRAYS = { f32: Float32Array, i32: Int32Array, u8: Uint8Array, bool: Uint8Array };
export const NAMES = Object.keys(ARRAYS);

export function checkType(dtype, arrays = ARRAYS) {
  const names = Object.keys(arrays);
  expect(names.includes(dtype), 'tensor', `one of the types ${names.join(', ')}`, dtype);
}

/** Whether an array's memory was transferred. Then its length is 0 and no view of its buffer can be made. */
function isDetached({ length, buffer }) {
  if (length !== 0) return false;
  try {
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}

/** Converts plain numbers to elements of a type. Returns typed arrays unchanged. */
export function elements(values, dtype = 'f32', arrays = ARRAYS) {
  if (ArrayBuffer.isView(values))
    expect(!isDetached(values), 'tensor', 'an array that was not transferred', 'a transferred one');
  if (!Array.isArray(values)) return values;
  checkType(dtype, arrays);
  const array = arrays[dtype].from(values);
  const fits =
    dtype === 'bool'
      ? (value) => [0, 1, false, true].includes(value)
      : (value, i) => typeof value === 'number' && (dtype[0] === 'f' || value === array[i]);
  const wrong = values.findIndex((value, i) => !fits(value, i));
  expect(wrong < 0, 'tensor', `values of ${dtype}`, values[wrong]);
  return array;
}

export function checkInt32(value) {
  expect(Number.isInteger(value) && (value | 0) === value, 'tensor', 'a 32-bit integer', value);
  return value;
}

export function checkNatural(value, place = 'seed') {
  expect(Number.isInteger(value) && value >= 0 && value <= 2 ** 53, place, 'an integer from 0 to 2^53', value);
  return value;
}

export function checkLearningRate(value) {
  expect(Number.isFinite(value) && value >= 0, 'train', 'a learning rate of 0 or more', value);
  return value;
}
