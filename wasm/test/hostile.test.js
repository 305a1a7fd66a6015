// SPDX-License-Identifier: MIT
// Damaged files. Each must give an error of the library or a result, never a trap. The module must work afterwards.
// If KAISEKI_FUZZ names a build folder with the native fuzz targets' corpora, a hundred files of each are tested too.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { KaisekiError, load } from 'kaiseki/sync';
import { mnist, png } from './files.js';
import { blobs, hash, samples, ticket, weights as tensors } from './message.js';

const kaiseki = await load({ threads: 1 });
after(() => kaiseki.close());
const here = (path) => new Uint8Array(readFileSync(new URL(`../../${path}`, import.meta.url)));
const json = {
  inputs: { x: { shape: [1, 6, 6] } },
  layers: [
    { name: 'c', type: 'convolution', output_channels: 2, kernel_size: 3 },
    { type: 'relu' },
    { name: 'p', type: 'max_pooling', kernel_size: 2 },
    { name: 'f', type: 'fully_connected', output_size: 3 },
    { type: 'softmax_cross_entropy' },
  ],
};
const network = kaiseki.network(json);
const pixels = Uint8Array.from({ length: 3 * 11 * 9 }, (_, i) => (i * 41) % 256);

const weights = (bytes) => network.loadWeights(bytes, { strict: false });
const net = (bytes) => {
  const { json } = kaiseki.network(bytes);
  kaiseki.network(json);
};
/** Puts the bytes into a layer's weights in Sukiyaki's format. */
const inline = (bytes) =>
  kaiseki.network({
    layer_params: [{ type: 'fc', params: { input_size: 1, output_size: 2 } }],
    layer_status: [{ w: Buffer.from(bytes).toString('latin1') }],
  });
const picture = (bytes) => kaiseki.picture(bytes, { width: 5, height: 4 });
/** A training node gets `bytes` as one of its ticket's blobs. */
const blob = (role) => (bytes) => {
  const node = kaiseki.trainingNode();
  for (const one of [...blobs.values(), bytes]) node.addBlob(hash(one), one);
  node.run(ticket({ [role]: hash(bytes) }));
};
// The reader, the folder of its corpora, and valid files.
const READERS = {
  network: [net, ['network_json'], [new TextEncoder().encode(JSON.stringify(json)), here('models/lenet.json')]],
  onnx: [net, ['onnx'], [here('onnx/preactivated_13.onnx')]],
  safetensors: [weights, ['safetensors'], [network.saveWeights('safetensors')]],
  tar: [weights, ['tar'], [network.saveWeights('tar')]],
  json: [weights, ['network_json'], [network.saveWeights('json')]],
  base64: [
    inline,
    ['base64'],
    [new TextEncoder().encode(Buffer.from(Float32Array.of(0.5, -1).buffer).toString('base64'))],
  ],
  idx: [(bytes) => kaiseki.idx(bytes), ['idx'], [mnist(3, [4, 5]).images]],
  cifar10: [(bytes) => kaiseki.cifar10(bytes), ['cifar'], [new Uint8Array(2 * 3073)]],
  picture: [
    picture,
    ['picture', 'jpeg_stb'],
    [png(11, 9, pixels), here('jpeg/progressive.jpg'), here('jpeg/half_color.jpg'), here('jpeg/gray.jpg')],
  ],
  ticket: [(bytes) => kaiseki.trainingNode().missing(bytes), ['wire_tensors'], [new Uint8Array(ticket())]],
  samples: [blob('samples'), ['wire_tensors'], [new Uint8Array(samples)]],
  tensors: [blob('weights'), ['wire_tensors'], [new Uint8Array(tensors)]],
};

/** Uses most of the module's memory. A file that claims to be large then fails at once. */
function fill() {
  const blocks = [];
  for (const megabytes of [256, 16])
    try {
      for (;;) blocks.push(kaiseki.empty([megabytes << 18]));
    } catch (error) {
      assert.equal(error.kind, 'OutOfMemory');
    }
  blocks.splice(-3).forEach((block) => block.dispose());
  kaiseki.trim();
  return () => blocks.forEach((block) => block.dispose());
}

function* damaged(bytes) {
  let state = 1;
  const draw = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let i = 0; i < 50; ++i) yield bytes.slice(0, Math.floor((bytes.length * i) / 50));
  for (let i = 0; i < 250; ++i) {
    const other = bytes.slice();
    for (let changes = 1 + draw(4); changes > 0; --changes)
      other[draw(Math.min(other.length, i % 2 ? 200 : other.length))] = draw(256);
    yield other;
  }
}

const fuzzed = existsSync(`${process.env.KAISEKI_FUZZ}/corpus`);

function* corpora(names) {
  for (const kind of ['corpus', 'seeds'])
    for (const name of names) {
      const folder = `${process.env.KAISEKI_FUZZ}/${kind}/${name}`;
      const files = existsSync(folder) ? readdirSync(folder).sort() : [],
        apart = Math.ceil(files.length / 100);
      for (let i = 0; i < files.length; i += apart) yield new Uint8Array(readFileSync(`${folder}/${files[i]}`));
    }
}

describe('damaged files', () => {
  const free = fill(),
    { handles } = kaiseki.memory();
  after(free);
  if (!fuzzed) console.log('SKIPPED: the corpora of fuzz targets in WebAssembly: KAISEKI_FUZZ is not set');

  for (const [name, [read, folders, sound]] of Object.entries(READERS))
    test(name, () => {
      let count = 0,
        refused = 0;
      const native = [...corpora(folders)];
      if (fuzzed) assert.ok(native.length > 0, `files of ${folders} in ${process.env.KAISEKI_FUZZ}`);
      const attempt = (bytes) => {
        ++count;
        try {
          kaiseki.tidy(() => {
            read(bytes);
          });
        } catch (error) {
          if (!(error instanceof KaisekiError)) throw error;
          ++refused;
        }
      };
      for (const file of sound) for (const bytes of damaged(file)) attempt(bytes);
      for (const bytes of native) attempt(bytes);
      for (const file of sound)
        kaiseki.tidy(() => {
          read(file);
        });
      console.log(`${name}: ${count} files, ${refused} refused`);
      assert.ok(refused > 0);
      assert.equal(kaiseki.memory().handles, handles);
    });

  test('still works after all damaged files', () => {
    const { values } = kaiseki.tidy(() => ({ values: network.predict(kaiseki.uniform([2, 1, 6, 6])).toTypedArray() }));
    assert.equal(values.length, 6);
  });
});
