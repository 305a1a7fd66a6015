// SPDX-License-Identifier: MIT
import { Handle } from './handle.js';
import { Tensor } from './tensor.js';

const NUMBERS = ['momentum', 'alpha', 'beta1', 'beta2', 'epsilon', 'weightDecay', 'clipNorm'];

export class Optimizer extends Handle {
  constructor(kaiseki, name, options) {
    const { module } = kaiseki;
    super(kaiseki, 'kaiseki_optimizer_delete', module.scratch((reserve) => module.call('kaiseki_optimizer',
      module.putText(reserve, name), module.put(reserve, Float64Array, NUMBERS.map((key) => options[key] ?? NaN)))));
    this.learningRate = options.learningRate ?? module.scratch((reserve) =>
      module.call('kaiseki_default_learning_rate', module.putText(reserve, name)));
  }
}

export class Network extends Handle {
  constructor(kaiseki, source) {
    const { module } = kaiseki;
    const bytes = source instanceof Uint8Array ? source
      : new TextEncoder().encode(typeof source === 'string' ? source : JSON.stringify(source));
    super(kaiseki, 'kaiseki_network_delete', module.scratch((reserve) => module.call('kaiseki_network',
      module.put(reserve, Uint8Array, bytes), bytes.length)));
  }

  get json() {
    return JSON.parse(this.#text('kaiseki_network_json', this.address));
  }

  initialize(seed = 0) {
    this.kaiseki.module.call('kaiseki_network_initialize', this.address, seed);
  }

  predict(x) {
    return new Tensor(this.kaiseki, this.kaiseki.module.call('kaiseki_network_forward', this.address, x.address, false));
  }

  trainStep(optimizer, x, targets, learningRate = optimizer.learningRate) {
    return this.#judged('kaiseki_train_step', this.address, optimizer.address, x.address, targets.address, learningRate);
  }

  evaluate(x, targets, { batchSize = 256 } = {}) {
    const count = x.shape[0];
    let loss = 0, correct = 0;
    for (let start = 0; start < count; start += batchSize) {
      const n = Math.min(batchSize, count - start);
      this.kaiseki.tidy(() => {
        const batch = this.#judged('kaiseki_evaluate', this.address, x.slice(0, start, n).address,
          targets.slice(0, start, n).address);
        loss += batch.loss * n;
        correct += batch.correct;
      });
    }
    return { loss: loss / count, accuracy: correct / count };
  }

  get parameters() {
    const { module } = this.kaiseki;
    return Array.from({ length: module.call('kaiseki_parameter_count', this.address) }, (_, i) => ({
      name: this.#text('kaiseki_parameter_name', this.address, i),
      value: new Tensor(this.kaiseki, module.call('kaiseki_parameter_value', this.address, i)),
    }));
  }

  saveWeights(format = 'safetensors') {
    const { module } = this.kaiseki;
    return module.scratch((reserve) =>
      module.bytes(module.call('kaiseki_weights_encode', this.address, module.putText(reserve, format))));
  }

  loadWeights(bytes, { strict = true } = {}) {
    const { module } = this.kaiseki;
    return module.scratch((reserve) => this.#text('kaiseki_weights_load', this.address,
      module.put(reserve, Uint8Array, bytes), bytes.length, strict));
  }

  #text(name, ...args) {
    const { module } = this.kaiseki;
    return module.text(module.call(name, ...args));
  }

  #judged(name, ...args) {
    const { module } = this.kaiseki;
    return module.scratch((reserve) => {
      const out = reserve(16);
      module.call(name, ...args, out);
      const [loss, correct] = module.array(Float64Array, out, 2);
      return { loss, correct };
    });
  }
}
