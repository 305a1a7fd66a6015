// SPDX-License-Identifier: MIT
// The types: each class and interface has exactly the members that its object has at run time.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import ts from 'typescript';
import * as client from 'kaiseki';
import * as arrays from 'kaiseki/arrays';
import * as learn from 'kaiseki/learn';
import * as sync from 'kaiseki/sync';

/** The names of the public members that src/`file`.d.ts declares for a class or interface. */
function declared(file, type) {
  const text = readFileSync(new URL(`${file}.d.ts`, import.meta.resolve('kaiseki')));
  const source = ts.createSourceFile(`${file}.d.ts`, text.toString(), ts.ScriptTarget.Latest);
  const found = source.statements.filter((statement) => statement.name?.text === type);
  return new Set(found.flatMap((one) => one.members.map(({ name }) => name?.text)).filter(Boolean));
}

/** The names of an object's methods, accessors and values, up to Object.prototype. */
function members(object) {
  const names = new Set();
  for (let at = object; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') names.add(name);
  return names;
}

/** Members that only the package itself uses. */
const INTERNAL = {
  arrays: ['address', 'kaiseki', 'release', 'module', 'scopes', 'run', 'Tensor', 'Random'],
  client: ['id', 'kaiseki', 'moveTo', 'connection', 'depth', 'made', 'request', 'ended'],
  learn: ['address', 'kaiseki', 'release', 'module', 'scopes'],
  sync: ['address', 'kaiseki', 'release', 'module', 'scopes', 'rows', 'idx', 'evaluateBatches'],
};

for (const [entry, file, { load }] of [
  ['client', 'index', client],
  ['sync', 'sync', sync],
])
  describe(`types of the entry ${file}`, async () => {
    const kaiseki = await load({ threads: 1 });
    after(() => kaiseki.close());
    const tensor = await kaiseki.tensor([1]);
    const optimizer = await kaiseki.optimizer();
    const network = await kaiseki.network({ inputs: { x: { shape: [1] } }, layers: [{ type: 'relu' }] });
    const node = kaiseki.trainingNode?.();
    const objects = { Kaiseki: kaiseki, Tensor: tensor, Optimizer: optimizer, Network: network };
    if (node) objects.TrainingNode = node;
    for (const [type, object] of Object.entries(objects))
      test(type, () => {
        const found = members(object);
        for (const name of INTERNAL[entry]) found.delete(name);
        assert.deepEqual([...found].sort(), [...declared(file, type)].sort());
      });
  });

describe('types of the entry learn', async () => {
  const library = await learn.load();
  for (const [type, object] of Object.entries({ Learn: library, Model: library.model('KMeans') }))
    test(type, () => {
      const found = members(object);
      for (const name of INTERNAL.learn) found.delete(name);
      assert.deepEqual([...found].sort(), [...declared('learn', type)].sort());
    });
});

describe('types of the entry arrays', async () => {
  const library = await arrays.load();
  const tensor = library.tensor([1]);
  const groups = new Set(library.operations.map(({ group }) => group));
  /** The names that all generated files declare, for methods or for functions. */
  const generated = (kind) =>
    [...groups].flatMap((group) => {
      const type = group[0].toUpperCase() + group.slice(1) + kind;
      return [...declared(`operations_${group}`, type)];
    });
  for (const [file, type, object, kind] of [
    ['arrays', 'Arrays', library, 'Functions'],
    ['arrays', 'Tensor', tensor, 'Methods'],
    ['arrays_values', 'Random', library.random(1), undefined],
  ])
    test(type, () => {
      const found = members(object);
      for (const name of INTERNAL.arrays) found.delete(name);
      const names = kind ? generated(kind) : [];
      const wanted = library.operations.filter(({ method }) => kind && method === (kind === 'Methods'));
      assert.deepEqual([...new Set(names)].sort(), wanted.map(({ name }) => name).sort());
      assert.deepEqual([...found].sort(), [...declared(file, type), ...new Set(names)].sort());
    });
});
