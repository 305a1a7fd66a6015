// SPDX-License-Identifier: MIT
// kaiseki/arrays: wrong arguments for every operation give a result or an error of the library, never a trap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KaisekiError, Tensor, load } from 'kaiseki/arrays';

const arrays = await load();
const other = await load();
const gone = arrays.ones([1]);
gone.dispose();
const random = arrays.random(1);

const NUMBERS = [
  0,
  -0,
  1,
  2,
  -1,
  3,
  0.5,
  NaN,
  Infinity,
  -Infinity,
  1e-320,
  2 ** 31,
  -(2 ** 31),
  2 ** 32 + 1,
  2 ** 53,
  1e300,
];
const LISTS = [
  [],
  [0],
  [1, 1],
  [2, 2],
  [-1],
  [0, 0],
  [3, 1],
  [1, 2, 3],
  [NaN],
  [2 ** 31],
  [2 ** 53, 2 ** 53],
  Array(9).fill(1),
  ['1'],
  [null],
];
const TEXTS = [
  '',
  'f32',
  'i32',
  'f64',
  'same',
  'full',
  'two',
  'none',
  'relu',
  'x',
  '-1',
  '...',
  'ij->ji',
  'ii',
  'x = x + 1',
  '((',
  '1,2\n3,4',
  '\0',
];
const OTHERS = [
  undefined,
  null,
  true,
  false,
  {},
  { x: 1 },
  Symbol.iterator,
  1n,
  () => 1,
  new Uint8Array(3),
  new Float32Array(2),
  new Date(0),
  gone,
  other.ones([2]),
  random,
];
const tensors = ['f32', 'i32', 'u8', 'bool', 'f64'].flatMap((dtype) =>
  [[], [0], [1], [7], [2, 3], [3, 3], [0, 4], [2, 3, 3], [1, 2, 4, 5], [2, 2, 3, 3]].flatMap((shape) => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    const values = arrays.tensor(
      Array.from({ length: count }, (_, i) => (dtype === 'bool' ? i % 2 : i % 5)),
      shape,
      dtype,
    );
    const views = shape.length ? [values.slice('::-1'), values.slice('..., ::2'), values.slice('None')] : [];
    return [values, ...views];
  }),
);
for (const value of [NaN, Infinity, -1e38]) tensors.push(arrays.full([3, 3], value), arrays.full([4], value));
tensors.push(arrays.tensor([2 ** 31 - 1, -(2 ** 31), -1], [3], 'i32'), arrays.tensor([9, -9], [2], 'i32'));

let state = 7;
function draw(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = (list) => list[draw(list.length)];
/** A value that often has the type of the parameter. */
function argument(type) {
  const kind = draw(10);
  if (kind === 0) return pick(OTHERS);
  if (kind === 1) return pick([NUMBERS, LISTS, TEXTS, tensors][draw(4)]);
  if (type.includes("'")) return pick([...type.matchAll(/'(\w+)'/g)])[1];
  if (type === 'boolean') return draw(2) === 1;
  if (type === 'string') return pick(TEXTS);
  if (type === 'Random') return random;
  if (type === 'Uint8Array') return Uint8Array.from({ length: draw(200) }, () => draw(256));
  if (type === 'readonly Tensor[]') return Array.from({ length: draw(4) }, () => pick(tensors));
  if (type.startsWith('Record')) return { x: pick(tensors), y: pick(tensors), a: pick(NUMBERS) };
  if (type.includes('Integers') || type.includes('[]'))
    return draw(3) ? Array.from({ length: draw(5) }, () => draw(5)) : pick(LISTS);
  if (type.includes('Tensor')) return pick(tensors);
  return draw(3) ? draw(6) - 1 : pick(NUMBERS);
}

/** Arguments that fit together, for many operations. */
function fitting({ parameters }) {
  const shape = pick([[3, 3], [4], [2, 3, 3], [1, 2, 4, 4], [2, 2, 3, 3]]),
    count = shape.reduce((product, dim) => product * dim, 1);
  const made = (dtype, of) =>
    arrays.tensor(
      Array.from({ length: count }, (_, i) => of(i)),
      shape,
      dtype,
    );
  return parameters.map(({ name, type, fallback }) => {
    if (fallback !== undefined && draw(2)) return fallback;
    if (/indices|labels|rows/.test(name) && type === 'Tensor')
      return draw(2) ? made('i32', (i) => i % 2) : arrays.tensor([0, 1], [2], 'i32');
    if (name === 'mask') return made('bool', (i) => i % 2);
    if (name === 'values' && draw(2)) return arrays.tensor([1]);
    if (/gamma|beta|mean|var|std/.test(name) && type === 'Tensor') return arrays.tensor([1, 0.5]);
    if (type === 'readonly Tensor[]') return [made('f32', (i) => i), made('f32', () => 1)];
    if (type.startsWith('Tensor')) return made(draw(8) ? 'f32' : pick(['i32', 'u8', 'bool', 'f64']), (i) => i % 2);
    if (type.startsWith('number')) return pick([0, 1, 2, 3]);
    if (name === 'shape') return shape;
    return argument(type);
  });
}

for (const operation of arrays.operations)
  test(operation.name, () => {
    const { parameters, name } = operation;
    for (let i = 0; i < 600; ++i)
      try {
        arrays.tidy(() => {
          let values;
          if (i % 2) {
            values = parameters.slice(0, draw(parameters.length + 1) + 1).map(({ type }) => argument(type));
          } else {
            values = fitting(operation);
            const wrong = draw(parameters.length + 1);
            if (wrong < parameters.length) values[wrong] = argument(parameters[wrong].type);
          }
          if (operation.method && !(values[0] instanceof Tensor)) values[0] = pick(tensors);
          if (operation.method) values[0][name](...values.slice(1));
          else arrays[name](...values);
        });
      } catch (error) {
        if (!(error instanceof KaisekiError)) throw error;
      }
    assert.equal(
      arrays.tidy(() => arrays.arange(10).sum().item()),
      45,
    );
  });
