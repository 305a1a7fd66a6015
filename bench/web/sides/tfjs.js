// SPDX-License-Identifier: MIT
// TensorFlow.js on its backends cpu, wasm, webgl and webgpu.
import * as tf from '@tensorflow/tfjs-core';
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
import { BATCH, LEARNING_RATE, MOMENTUM, NETWORKS, numbers, spread } from '../tasks.js';

/**
 * Adds the gradient of a convolution's filter, which the wasm backend lacks. It is a convolution of stride 1 in which
 * batch and channels are swapped. The filters are the gradients of the output.
 */
function addFilterGradient() {
  tf.registerKernel({
    kernelName: 'Conv2DBackpropFilter',
    backendName: 'wasm',
    kernelFunc: ({ inputs: { x, dy }, attrs: { pad } }) =>
      tf.tidy(() => {
        const images = tf.transpose(x, [3, 1, 2, 0]),
          filters = tf.transpose(dy, [1, 2, 0, 3]);
        return tf.transpose(tf.conv2d(images, filters, 1, pad), [1, 2, 0, 3]);
      }),
  });
}

async function start(backend, { threads, packages, node, readBytes }) {
  if (backend === 'cpu') await import('@tensorflow/tfjs-backend-cpu');
  if (backend === 'webgl') await import('@tensorflow/tfjs-backend-webgl');
  if (backend === 'webgpu') await import('@tensorflow/tfjs-backend-webgpu');
  if (backend === 'wasm') {
    const wasm = await import('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(`${packages}/@tensorflow/tfjs-backend-wasm/dist/`);
    wasm.setThreadsCount(threads);
    if (node) tf.env().platform.fetch = async (path) => new Response(await readBytes(path));
    addFilterGradient();
  }
  if (!(await tf.setBackend(backend))) throw new Error(`[tfjs] expected the backend ${backend}, got none`);
  await tf.ready();
}

const tasks = {
  T1: ({ a, b }) => [tf.add(a, b)],
  T2: ({ a, b }) => [tf.matMul(a, b)],
  T3: ({ a, b }) => [tf.matMul(a, b)],
  T4: ({ a, b, bias, c }) => [tf.add(tf.matMul(a, b), bias), tf.matMul(a, c, true)],
};

/** Returns the network as a function of a batch, and its parameters. */
function model({ input: [depth, , width], layers }) {
  const steps = [],
    add = (body) => steps.push(body);
  let channels = depth,
    side = width,
    features = 0;
  const parameter = (shape, inputs) => {
    const size = shape.reduce((product, length) => product * length);
    return tf.variable(
      tf.mul(
        tf.tensor(inputs ? numbers(size, steps.length + 1) : new Float32Array(size), shape),
        inputs ? spread(inputs) : 1,
      ),
    );
  };
  for (const [type, size, pad] of layers) {
    if (type === 'relu') add((x) => tf.relu(x));
    if (type === 'pool') (add((x) => tf.maxPool(x, 2, 2, 'valid')), (side /= 2));
    if (type === 'conv') {
      const filter = parameter([5, 5, channels, size], 25 * channels),
        bias = parameter([size]);
      add((x) => tf.add(tf.conv2d(x, filter, 1, pad), bias));
      ((side += 2 * pad - 4), (channels = size));
    }
    if (type === 'fc') {
      if (!features) (add((x) => tf.reshape(x, [BATCH, -1])), (features = side * side * channels));
      const weight = parameter([features, size], features),
        bias = parameter([size]);
      add((x) => tf.add(tf.matMul(x, weight), bias));
      features = size;
    }
  }
  return (x) => steps.reduce((value, step) => step(value), x);
}

export async function open(options) {
  await start(options.backend, options);
  /** Returns the tensors' values. webgpu's values are only available asynchronously. */
  function take(tensors, rest = []) {
    const end = (values) => (tf.dispose([tensors, rest]), values);
    if (options.backend === 'webgpu') return Promise.all(tensors.map((tensor) => tensor.data())).then(end);
    return end(tensors.map((tensor) => tensor.dataSync()));
  }
  return {
    task(name, inputs) {
      const run = () => {
        const put = Object.fromEntries(
          Object.entries(inputs).map(([key, { values, shape }]) => [key, tf.tensor(values, shape)]),
        );
        return take(
          tf.tidy(() => tasks[name](put)),
          put,
        );
      };
      return { run, values: (results) => results };
    },
    async train(name, { shape, images, labels }) {
      const network = model(NETWORKS[name]),
        optimizer = tf.train.momentum(LEARNING_RATE, MOMENTUM);
      const x = tf.tidy(() => tf.transpose(tf.tensor(images, shape), [0, 2, 3, 1])),
        y = tf.oneHot(tf.tensor1d(labels, 'int32'), 10);
      return () => {
        const values = take([optimizer.minimize(() => tf.losses.softmaxCrossEntropy(y, network(x)), true)]);
        return values.then ? values.then(([[loss]]) => loss) : values[0][0];
      };
    },
  };
}
