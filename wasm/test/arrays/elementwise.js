// SPDX-License-Identifier: MIT
// NumPy's results of tests/matrix/ops/numpy/elementwise.txt, for formulas and for the methods that they name.
import { readFileSync } from 'node:fs';

const METHODS = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '//': 'floor_divide',
  '%': 'remainder',
  '==': 'equal',
  '!=': 'not_equal',
  '<': 'less',
  '<=': 'less_equal',
  '>': 'greater',
  '>=': 'greater_equal',
  '&&': 'logical_and',
  '||': 'logical_or',
  '&': 'bitwise_and',
  '|': 'bitwise_or',
  '^': 'bitwise_xor',
  '<<': 'left_shift',
  '>>': 'right_shift',
  'unary -': 'negative',
  'unary !': 'logical_not',
  'unary ~': 'bitwise_not',
  'max()': 'maximum',
  'min()': 'minimum',
};
const number = (word) => Number(word.replace('inf', 'Infinity').replace('nan', 'NaN'));
const list = (text) => (text ? text.split(' ').map(number) : []);

/** The method's name and a call of it, or nothing. */
function methodOf(expression, x, y) {
  const operator = /^x (\S+) (y|-?\d+|0\.5)$/.exec(expression);
  if (operator) {
    const method = METHODS[operator[1]];
    return [method, () => x[method](operator[2] === 'y' ? y : Number(operator[2]))];
  }
  const unary = /^([-!~])x$/.exec(expression);
  if (unary) return [METHODS[`unary ${unary[1]}`], () => x[METHODS[`unary ${unary[1]}`]]()];
  const call = /^(\w+)\((.*)\)$/.exec(expression);
  if (!call) return undefined;
  const name = METHODS[`${call[1]}()`] ?? call[1],
    [first, ...rest] = call[2].split(', ').map((word) => ({ x, y })[word] ?? Number(word));
  if (['f32', 'i32', 'u8', 'bool'].includes(name)) return ['cast', () => x.cast(name)];
  return [name, () => first[name](...rest)];
}

function problem(tensor, dtype, values, tolerance) {
  if (tensor.dtype !== dtype) return tensor.dtype;
  const got = tensor.toTypedArray();
  // f32 of a result below 1e-37 may be flushed to 0.
  const near = (value, want) =>
    Number.isFinite(want)
      ? Math.abs(value - want) <= tolerance * Math.abs(want) + (tolerance && 1e-37)
      : Object.is(value, want);
  const wrong = values.findIndex((want, i) => !near(got[i], dtype === 'f32' ? Math.fround(want) : want));
  if (got.length !== values.length) return `${got.length} values`;
  return wrong < 0 ? '' : `${got[wrong]} for ${values[wrong]}`;
}

/** The cases by operation, as readArrayCases() returns them. */
export function readElementwiseCases(arrays, file) {
  const cases = new Map(),
    add = (name, line, run) => {
      if (!cases.has(name)) cases.set(name, []);
      cases.get(name).push([line, () => arrays.tidy(run)]);
    };
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const [, expression, types, result, tolerance, xs, ys, values] =
      /^(.*?)\|((?:bool|u8|i32|f32) \w+)\|(\w+)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)$/.exec(line);
    const [p, q] = types.split(' ');
    const operands = () => {
      const x = arrays.tensor(list(xs), undefined, p);
      return ys ? { x: x.reshape([-1, 1]), y: arrays.tensor(list(ys), undefined, q) } : { x };
    };
    const check = (tensor) => problem(tensor, result, list(values), Number(tolerance));
    add('elementwise', line, () => check(arrays.elementwise(expression, operands())));
    const { x, y } = operands(),
      method = methodOf(expression, x, y);
    if (method) add(method[0], line, () => check(method[1]()));
  }
  return cases;
}
