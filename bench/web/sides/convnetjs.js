// SPDX-License-Identifier: MIT
// ConvNetJS computes in doubles, one sample after another. It has networks but no matrices.
import convnetjs from 'convnetjs';
import { BATCH, LEARNING_RATE, MOMENTUM, NETWORKS } from '../tasks.js';

/** Its layers include their activation. The last layer is the loss. */
function definitions({ input: [depth, height, width], layers }) {
  const found = [{ type: 'input', out_sx: width, out_sy: height, out_depth: depth }];
  layers.forEach(([type, size, pad], at) => {
    if (type === 'relu') found.at(-1).activation = 'relu';
    else if (type === 'conv') found.push({ type, sx: 5, filters: size, stride: 1, pad });
    else if (type === 'pool') found.push({ type, sx: 2, stride: 2 });
    else if (at + 1 < layers.length) found.push({ type, num_neurons: size });
    else found.push({ type: 'softmax', num_classes: size });
  });
  return found;
}

export async function open() {
  return {
    async train(name, { shape: [, depth, height, width], images, labels }) {
      const network = new convnetjs.Net();
      network.makeLayers(definitions(NETWORKS[name]));
      const trainer = new convnetjs.Trainer(network, {
        method: 'sgd',
        learning_rate: LEARNING_RATE,
        momentum: MOMENTUM,
        batch_size: BATCH,
      });
      const samples = Array.from(labels, (_, n) => {
        const sample = new convnetjs.Vol(width, height, depth, 0);
        for (let d = 0; d < depth; ++d)
          for (let y = 0; y < height; ++y)
            for (let x = 0; x < width; ++x) sample.set(x, y, d, images[((n * depth + d) * height + y) * width + x]);
        return sample;
      });
      return () => samples.reduce((sum, sample, n) => sum + trainer.train(sample, labels[n]).cost_loss, 0) / BATCH;
    },
  };
}
