// SPDX-License-Identifier: MIT
// Uses every part of the types of kaiseki/arrays.
import {
  KaisekiError,
  Random,
  Tensor,
  load,
  type Arrays,
  type DType,
  type Elements,
  type Integers,
  type Nested,
  type Operation,
} from 'kaiseki/arrays';

function solve(arrays: Arrays, a: Nested, b: Nested): number[] {
  return Array.from(
    arrays.tidy(() =>
      arrays
        .tensor(a, undefined, 'f64')
        .solve(arrays.tensor(b, [2], 'f64'))
        .toTypedArray(),
    ),
  );
}

export async function main(file: Uint8Array): Promise<string> {
  const arrays = await load({ onProgress: ({ loaded }) => console.log(loaded) });
  const x: Tensor = arrays.arange(24).reshape([4, 6]);
  const random: Random = arrays.random(7);
  const axes: Integers = Int32Array.of(0);
  const type: DType = x.dtype;
  const elements: Elements = x.slice('0:2, ::-1').toTypedArray();
  console.log(
    type,
    elements.length,
    x.size,
    x.shape[0],
    x.item,
    x.disposed,
    solve(
      arrays,
      [
        [2, 1],
        [1, 3],
      ],
      [1, 2],
    ),
  );
  console.log(x.sum(axes).add(1), x.sum({ keep_dims: true }), x.topk(2).indices, x.argmax(null), x.greater(3).any());
  const { u, s, vt } = x.svd({ size: 'full' });
  const { values, vectors } = x.matmul(x, false, true).eig();
  console.log(u, s, vt, values.real, vectors.imaginary, x.array_equal(u), arrays.einsum('ij->ji', [x]));
  x.slice('1').fill(3).random_uniform(random, { high: 2 }).set([1, 2, 3, 4, 5, 6]);
  arrays.update('x = x * a', { x, a: 2 });
  const { a, b } = arrays.read_npz(file);
  const { labels, squares } = x.nearest_labels(arrays.read_npy(file, { f8: 'f32' }));
  console.log(x.cluster_sums(labels, 2), squares, x.squared_distances(x), arrays.read_npy(file, 'f64'));
  const picture = x.reshape([1, 1, 4, 6]).conv2d(arrays.ones([1, 1, 3, 3]), { padding: [1, 1], activation: 'relu' });
  console.log(a, b, picture.max_pool2d().y, arrays.encode_npz({ x }).length, arrays.memory().heap);
  // @ts-expect-error: no such type
  arrays.zeros([2], 'f16');
  // @ts-expect-error: no axis
  x.cumsum();
  // @ts-expect-error: no such name
  x.sum({ axis: 0 });
  // @ts-expect-error: a function of the library
  x.concatenate([x], 0);
  const operation: Operation | undefined = arrays.operations.find(({ name }) => name === 'sum');
  console.log(operation?.about, operation?.group, operation?.method, operation?.number, operation?.result);
  console.log(operation?.parameters.map(({ name, type, fallback }) => `${name}: ${type} = ${String(fallback)}`));
  try {
    x.inv();
  } catch (error) {
    if (error instanceof KaisekiError) console.log(error.kind);
  }
  arrays.trim();
  random.dispose();
  return x.toString();
}
