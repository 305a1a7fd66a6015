// SPDX-License-Identifier: MIT
// Data sets and pictures from addresses and from bytes.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { load } from 'kaiseki';
import { readSources } from '../../node_modules/kaiseki/src/sources.js';
import { mnist, png } from './files.js';

const kaiseki = await load({ threads: 1 });
after(() => kaiseki.close());
const list = async (tensor) => Array.from(await tensor.toTypedArray());
const set = mnist(300),
  packed = gzipSync(set.images);

describe('data sets', () => {
  const stalled = new EventEmitter();
  let server, base;
  before(async () => {
    server = createServer((request, response) => {
      const files = {
        '/images': set.images,
        '/images.gz': packed,
        '/labels.gz': gzipSync(set.classes),
        '/damaged.gz': packed.subarray(0, 100),
      };
      if (request.url === '/stalled') {
        response.once('close', () => stalled.emit('end'));
        return response.writeHead(200, { 'Content-Length': 1000 }).write('x');
      }
      const file = files[request.url];
      if (!file) return response.writeHead(404).end();
      return response.writeHead(200, { 'Content-Length': file.length }).end(file);
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${server.address().port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const check = async ({ images, labels }) => {
    assert.deepEqual([images.shape, images.dtype, labels.shape, labels.dtype], [[300, 1, 28, 28], 'u8', [300], 'i32']);
    assert.deepEqual(await images.toTypedArray(), set.pixels);
    assert.deepEqual(await list(labels), Array.from(set.labels));
  };

  test('fetches MNIST with and without gzip, and reports progress', async () => {
    const told = [];
    await check(
      await kaiseki.mnist(
        { images: `${base}/images.gz`, labels: new URL(`${base}/labels.gz`) },
        { onProgress: (at) => told.push(at) },
      ),
    );
    await check(await kaiseki.mnist({ images: `${base}/images`, labels: set.classes }));
    assert.ok(told.length >= 2);
    assert.equal(told.at(-1).loaded, told.at(-1).total);
    assert.equal(told.at(-1).total, packed.length + gzipSync(set.classes).length);
    told.forEach(({ loaded }, i) => assert.ok(i === 0 || loaded > told[i - 1].loaded));
  });

  test('reads MNIST from bytes and blobs', async () => {
    await check(await kaiseki.mnist({ images: set.images, labels: new Blob([gzipSync(set.classes)]) }));
    await check(await kaiseki.mnist({ images: packed, labels: set.classes.buffer.slice(0) }));
  });

  test('reports errors of downloads and files', async () => {
    const labels = set.classes;
    await assert.rejects(
      kaiseki.mnist({ images: `${base}/nothing`, labels }),
      /expected the file http.*nothing, got 404/,
    );
    await assert.rejects(kaiseki.mnist({ images: `${base}/damaged.gz`, labels }), {
      kind: 'ParseError',
      message: /gzip/,
    });
    await assert.rejects(kaiseki.mnist({ images: labels, labels }), {
      kind: 'ParseError',
      message: /expected pictures/,
    });
    await assert.rejects(kaiseki.mnist({ images: set.images, labels: mnist(299).classes }), {
      kind: 'ParseError',
      message: /expected 300 labels/,
    });
    await assert.rejects(kaiseki.mnist({ images: set.images.subarray(0, 999), labels }), { kind: 'ParseError' });
    await assert.rejects(kaiseki.mnist({ images: 'nowhere', labels }), TypeError);
    for (const images of [
      new SharedArrayBuffer(8),
      new Float32Array(2),
      new DataView(new ArrayBuffer(8)),
      5,
      undefined,
    ])
      await assert.rejects(kaiseki.mnist({ images, labels }), {
        kind: 'Error',
        message: /^\[data\] expected an address, a Blob, an ArrayBuffer or a Uint8Array, got /,
      });
  });

  test('refuses packed files that are much smaller than their contents', { timeout: 60000 }, async () => {
    const zeros = (megabytes) => new Uint8Array(megabytes << 20),
      sound = Buffer.concat([zeros(70), randomBytes(4 << 20)]);
    const refused = (reading, most) =>
      assert.rejects(reading, { kind: 'Error', message: `[data] more than ${most} unpacked bytes of an array` });
    const network = await kaiseki.network({
      inputs: { x: { shape: [2] } },
      layers: [{ name: 'f', type: 'fully_connected', output_size: 2 }],
    });
    const small = gzipSync(zeros(65));
    await refused(kaiseki.mnist({ images: small, labels: set.classes }), 2 ** 26);
    await refused(kaiseki.picture(small, { width: 1, height: 1 }), 2 ** 26);
    await refused(kaiseki.cifar10([small]), 2 ** 26);
    await refused(network.loadWeights(small, { strict: false }), 2 ** 26);

    const read = (bytes, most) => readSources([gzipSync(bytes)], most, new AbortController().signal, () => {});
    await refused(read(sound, sound.length - 1), sound.length - 1);
    for (const bytes of [zeros(64), sound]) assert.equal((await read(bytes, 2 ** 30))[0].length, bytes.length);
    // The network has six parameters.
    await refused(network.loadWeights(gzipSync(sound)), 2 ** 26 + 16 * 6);
    await assert.rejects(network.loadWeights(gzipSync(sound), { strict: false }), { kind: 'ParseError' });
  });

  test('aborts a download', async () => {
    const stop = new AbortController(),
      onProgress = () => stop.abort();
    await assert.rejects(
      kaiseki.mnist({ images: `${base}/stalled`, labels: set.classes }, { signal: stop.signal, onProgress }),
      { name: 'AbortError' },
    );
    assert.equal(await (await kaiseki.tensor([1])).item(), 1);
  });

  test('cancels the other downloads when one fails', { timeout: 60000 }, async () => {
    const end = once(stalled, 'end');
    await assert.rejects(kaiseki.mnist({ images: `${base}/stalled`, labels: `${base}/damaged.gz` }), {
      kind: 'ParseError',
      message: /gzip/,
    });
    await end;
  });

  test('reads CIFAR-10 from batches', async () => {
    const record = (label) => Uint8Array.of(label, ...Array.from({ length: 3072 }, (_, i) => (i * 13 + label) % 256));
    const two = new Uint8Array([...record(3), ...record(9)]);
    const { images, labels } = await kaiseki.cifar10([two, gzipSync(record(0))]);
    assert.deepEqual([images.shape, images.dtype, await list(labels)], [[3, 3, 32, 32], 'u8', [3, 9, 0]]);
    assert.deepEqual(
      await list(images),
      [3, 9, 0].flatMap((label) => Array.from(record(label).subarray(1))),
    );
    await assert.rejects(kaiseki.cifar10([two.subarray(1)]), { kind: 'ParseError' });
    await assert.rejects(kaiseki.cifar10([record(10)]), { kind: 'ParseError', message: /class from 0 to 9, got 10/ });
  });

  test('reads the real MNIST', async (context) => {
    const folder = process.env.KAISEKI_DATA;
    if (!folder) {
      console.log('SKIPPED: MNIST in WebAssembly: KAISEKI_DATA is not set');
      return context.skip();
    }
    const file = (name) => new Uint8Array(readFileSync(`${folder}/mnist/t10k-${name}-ubyte.gz`));
    const { images, labels } = await kaiseki.mnist({ images: file('images-idx3'), labels: file('labels-idx1') });
    assert.deepEqual(images.shape, [10000, 1, 28, 28]);
    assert.deepEqual((await list(labels)).slice(0, 5), [7, 2, 1, 0, 4]);
  });
});

describe('pictures', () => {
  test('decodes a PNG', async () => {
    const [width, height] = [7, 5],
      pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * 41) % 256);
    const picture = await kaiseki.picture(png(width, height, pixels), { width, height });
    assert.deepEqual([picture.shape, picture.dtype], [[1, 3, height, width], 'u8']);
    (await picture.toTypedArray()).forEach((value, i) => {
      const channel = Math.floor(i / (width * height)),
        wanted = pixels[3 * (i % (width * height)) + channel];
      assert.equal(value, wanted);
    });
  });

  test('decodes and scales a JPEG', async () => {
    const surface = (x, y, c) => 128 + 60 * Math.cos(0.11 * x + 0.7 * c) + 50 * Math.sin(0.09 * y - 0.5 * c);
    const file = new Uint8Array(readFileSync(new URL('../../jpeg/full_color.jpg', import.meta.url)));
    const [width, height] = [13, 19],
      values = await list(await kaiseki.picture(file, { width, height }));
    for (let c = 0; c < 3; ++c)
      for (let y = 0; y < height; ++y)
        for (let x = 0; x < width; ++x)
          assert.ok(Math.abs(values[(c * height + y) * width + x] - Math.min(255, Math.max(0, surface(x, y, c)))) < 12);
    const gray = await kaiseki.picture(new Blob([file]), { width: 4, height: 4, channels: 1 });
    assert.deepEqual(gray.shape, [1, 1, 4, 4]);
    assert.ok((await list(gray)).every((value) => value > 0 && value < 255));
  });

  test('turns a picture upright by its Exif block, unless asStored', async () => {
    const jpeg = readFileSync(new URL('../../jpeg/half_color.jpg', import.meta.url));
    const block = Buffer.from('Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0' + '\0'.repeat(6), 'latin1');
    const head = Buffer.from([0xff, 0xe1, 0, block.length + 2]);
    const turned = new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), head, block, jpeg.subarray(2)]));
    const size = { width: 8, height: 6 },
      plain = await list(await kaiseki.picture(new Uint8Array(jpeg), size)),
      stored = await list(await kaiseki.picture(turned, { ...size, asStored: true })),
      upright = await list(await kaiseki.picture(turned, size));
    assert.deepEqual(stored, plain);
    assert.notDeepEqual(upright, plain);
  });

  test('rejects bytes that are not a picture', async () => {
    await assert.rejects(kaiseki.picture(new Uint8Array([1, 2, 3]), { width: 4, height: 4 }), { kind: 'ParseError' });
    await assert.rejects(
      kaiseki.picture(png(1, 1, new Uint8Array(3)), { width: 0, height: 4 }),
      /expected 1 or 3 channels and sides/,
    );
    await assert.rejects(
      kaiseki.picture(png(1, 1, new Uint8Array(3)), { width: 4, height: 4, channels: 2 }),
      /channels/,
    );
  });
});
