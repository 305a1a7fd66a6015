// SPDX-License-Identifier: MIT
// onnxruntime-web on its wasm backend. The tasks are networks. It does not train.
import * as ort from 'onnxruntime-web';
import { onnx } from './onnx.js';

const NODES = {
  T1: [['Add', ['a', 'b'], 'y']],
  T2: [['MatMul', ['a', 'b'], 'y']],
  T3: [['MatMul', ['a', 'b'], 'y']],
  T4: [
    ['MatMul', ['a', 'b'], 'product'],
    ['Add', ['product', 'bias'], 'y'],
    ['Transpose', ['a'], 'turned'],
    ['MatMul', ['turned', 'c'], 'z'],
  ],
};

export async function open({ threads, packages, node }) {
  ort.env.wasm.numThreads = threads;
  if (!node) ort.env.wasm.wasmPaths = `${packages}/onnxruntime-web/dist/`;
  return {
    async task(name, inputs) {
      const { a, b, c } = inputs,
        shapes = Object.fromEntries(Object.entries(inputs).map(([key, { shape }]) => [key, shape]));
      const outputs = {
        y: name === 'T1' ? a.shape : [a.shape[0], b.shape[1]],
        ...(c && { z: [a.shape[1], c.shape[1]] }),
      };
      const session = await ort.InferenceSession.create(onnx(NODES[name], shapes, outputs), {
        executionProviders: ['wasm'],
      });
      const run = () =>
        session.run(
          Object.fromEntries(
            Object.entries(inputs).map(([key, { values, shape }]) => [key, new ort.Tensor('float32', values, shape)]),
          ),
        );
      return { run, values: (results) => Object.keys(outputs).map((key) => results[key].data) };
    },
  };
}
