// SPDX-License-Identifier: MIT
// kaiseki/arrays: wrong arguments for every operation give a result or an error of the library, never a trap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KaisekiError, Random, Tensor, load } from 'kaiseki/arrays';
import { clusterCases } from './arrays/cluster.js';
import { linalgCases } from './arrays/linalg.js';
import { networkCases } from './arrays/networks.js';
import { readArrayCases } from './arrays/numpy.js';
import { plainCases } from './arrays/plain_cases.js';

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

/** Another value in the place of a valid one: a part of it is changed, or all. */
function changed(value) {
  if (draw(4) === 0 || value?.length === 0) return pick([NUMBERS, LISTS, TEXTS, OTHERS, tensors][draw(5)]);
  if (typeof value === 'number') return pick(NUMBERS);
  if (typeof value === 'string') return value.slice(0, draw(value.length + 1)) + pick(TEXTS);
  if (value instanceof Uint8Array)
    return value.with(draw(value.length), draw(256)).slice(0, draw(8) ? undefined : draw(value.length));
  if (value instanceof Tensor)
    return draw(2)
      ? pick(tensors)
      : pick([value.cast('f64'), value.cast('i32'), value.slice('::2'), value.slice('None')]);
  if (value instanceof Random) return random;
  if (Array.isArray(value)) return draw(3) ? value.with(draw(value.length), changed(value[0])) : value.slice(1);
  const members = Object.entries(value ?? {});
  if (!members.length) return pick(OTHERS);
  const [name, member] = pick(members);
  return { ...value, [name]: changed(member) };
}

/** Returns the name of the operation and the error, unless a call works or throws an error of the library. */
function problemOf(name, call) {
  try {
    arrays.tidy(() => void call());
  } catch (error) {
    if (!(error instanceof KaisekiError)) return `${name}: ${error.stack}`;
  }
  return undefined;
}

for (const group of new Set(arrays.operations.map((operation) => operation.group)))
  test(`${group}: any arguments`, () => {
    for (const operation of arrays.operations.filter((one) => one.group === group))
      for (let i = 0; i < 300; ++i) {
        const { parameters, name, method } = operation;
        const values = parameters.slice(0, draw(parameters.length + 1) + 1).map(({ type }) => argument(type));
        if (method && !(values[0] instanceof Tensor)) values[0] = pick(tensors);
        const problem = problemOf(name, () => (method ? values[0][name](...values.slice(1)) : arrays[name](...values)));
        assert.equal(problem, undefined);
      }
    assert.equal(
      arrays.tidy(() => arrays.arange(10).sum().item()),
      45,
    );
  });

for (const [title, cases] of [
  ['making, products and files', Object.values(plainCases(arrays)).flat()],
  ['clusters', Object.values(clusterCases(arrays)).flat()],
  ['linear algebra', Object.values(linalgCases(arrays)).flat()],
  ['networks', Object.values(networkCases(arrays)).flat()],
  [
    'arrays',
    [...readArrayCases(arrays, new URL('../../array_cases.txt', import.meta.url)).values()].flatMap((all) =>
      all.slice(0, 20),
    ),
  ],
])
  test(`${title}: one argument of a valid call is wrong`, () => {
    const run = arrays.run,
      found = [],
      attacked = new Map();
    arrays.run = function (operation, args) {
      arrays.run = run; // for the calls below
      const { name } = operation,
        count = attacked.get(name) ?? 0;
      attacked.set(name, count + 1);
      for (let i = 0; i < 6 && count < 20; ++i) {
        const wrong = draw(args.length);
        const call = () =>
          run.call(
            arrays,
            operation,
            args.map((value, at) => (at === wrong ? changed(value) : (value?.clone?.() ?? value))),
          );
        found.push(problemOf(name, call));
      }
      try {
        return run.call(arrays, operation, args);
      } finally {
        arrays.run = attack;
      }
    };
    const attack = arrays.run;
    for (const [, valid] of cases) problemOf(title, valid);
    delete arrays.run;
    console.log(`${found.length} calls of ${attacked.size} operations`);
    assert.deepEqual(found.filter(Boolean).slice(0, 3), []);
  });
