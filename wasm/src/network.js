// SPDX-License-Identifier: MIT
// Networks and optimizers in the module.
import { expect } from './error.js';
import { Handle } from './handle.js';
import { Tensor } from './tensor.js';
import { checkNatural, checkLearningRate } from './values.js';

/** The limit of classes in a confusion matrix. More classes would take too much memory. */
const MOST_CLASSES = 1000;
const NUMBERS = ['momentum', 'alpha', 'beta1', 'beta2', 'epsilon', 'weightDecay', 'clipNorm', 'initialSquareSum'];

/** Returns an option as a number. NaN selects the default. */
function option(options, key) {
  const value = options[key] ?? undefined;
  expect(value === undefined || value === Number(value), 'optimizer', `a number as ${key}`, value);
  return value ?? NaN;
}

export class Optimizer extends Handle {
  constructor(kaiseki, name, options) {
    const { module } = kaiseki;
    const learningRate = checkLearningRate(
      options.learningRate ??
        module.scratch((reserve) => module.call('kaiseki_default_learning_rate', module.putText(reserve, name))),
    );
    super(
      kaiseki,
      'kaiseki_optimizer_delete',
      module.scratch((reserve) =>
        module.call(
          'kaiseki_optimizer',
          module.putText(reserve, name),
          module.put(
            reserve,
            Float64Array,
            NUMBERS.map((key) => option(options, key)),
          ),
        ),
      ),
    );
    this.learningRate = learningRate;
  }

  saveState(network) {
    const { module } = this.kaiseki;
    return module.bytes(
      module.call('kaiseki_optimizer_encode', this.address, Network.addressOf(this.kaiseki, network)),
    );
  }

  loadState(network, bytes) {
    const { module } = this.kaiseki;
    module.scratch((reserve) =>
      module.call(
        'kaiseki_optimizer_load',
        this.address,
        Network.addressOf(this.kaiseki, network),
        module.put(reserve, Uint8Array, bytes),
        bytes.length,
      ),
    );
  }
}

export class Network extends Handle {
  #weightsSet = false;

  constructor(kaiseki, source) {
    const { module } = kaiseki;
    const bytes =
      source instanceof Uint8Array
        ? source
        : new TextEncoder().encode(typeof source === 'string' ? source : JSON.stringify(source));
    super(
      kaiseki,
      'kaiseki_network_delete',
      module.scratch((reserve) => module.call('kaiseki_network', module.put(reserve, Uint8Array, bytes), bytes.length)),
    );
  }

  get hasWeights() {
    return this.summary.hasWeights;
  }

  get json() {
    return JSON.parse(this.#text('kaiseki_network_json', this.address));
  }

  get summary() {
    const summary = JSON.parse(this.#text('kaiseki_network_summary', this.address));
    return { ...summary, hasWeights: this.#weightsSet || summary.hasWeights };
  }

  initialize(seed = 0) {
    this.kaiseki.module.call('kaiseki_network_initialize', this.address, checkNatural(seed));
    this.#weightsSet = true;
  }

  predict(x) {
    return new Tensor(
      this.kaiseki,
      this.kaiseki.module.call('kaiseki_network_forward', this.address, Tensor.addressOf(this.kaiseki, x), false),
    );
  }

  trainStep(optimizer, x, targets, learningRate = optimizer.learningRate) {
    const { kaiseki } = this;
    return this.#scores('kaiseki_train_step', [
      this.address,
      Optimizer.addressOf(kaiseki, optimizer),
      Tensor.addressOf(kaiseki, x),
      Tensor.addressOf(kaiseki, targets),
      checkLearningRate(learningRate),
    ]);
  }

  backward(x, targets) {
    const { kaiseki } = this;
    return this.#scores('kaiseki_backward', [
      this.address,
      Tensor.addressOf(kaiseki, x),
      Tensor.addressOf(kaiseki, targets),
    ]);
  }

  gatherTar() {
    const { module } = this.kaiseki;
    return module.bytes(module.call('kaiseki_gradients_gather', this.address));
  }

  addTar(tar) {
    const { module } = this.kaiseki;
    module.scratch((reserve) =>
      module.call('kaiseki_gradients_add', this.address, module.put(reserve, Uint8Array, tar), tar.length),
    );
  }

  step(optimizer, learningRate = optimizer.learningRate) {
    this.kaiseki.module.call(
      'kaiseki_step',
      this.address,
      Optimizer.addressOf(this.kaiseki, optimizer),
      checkLearningRate(learningRate),
    );
  }

  /**
   * Returns the outputs of layers. Builds a second network that shares the parameters and declares these layers as its
   * outputs.
   */
  activations(x, layers) {
    const { kaiseki } = this,
      { module } = kaiseki,
      { json } = this;
    const places = layers.map((name) => {
      const at = json.layers.findIndex((layer) => layer.name === name);
      expect(at >= 0, 'activations', 'the name of a layer', name);
      return at;
    });
    const until = json.layers.slice(0, Math.max(...places) + 1);
    const probe = new Network(kaiseki, { inputs: json.inputs, layers: until, outputs: [...new Set(layers)] });
    try {
      module.call('kaiseki_network_share', probe.address, this.address);
      return module.scratch((reserve) => {
        const out = reserve(4 * layers.length);
        module.call(
          'kaiseki_network_outputs',
          probe.address,
          module.putText(reserve, Object.keys(json.inputs)[0]),
          Tensor.addressOf(kaiseki, x),
          layers.length,
          module.put(
            reserve,
            Uint32Array,
            layers.map((name) => module.putText(reserve, name)),
          ),
          out,
        );
        return Array.from(module.array(Uint32Array, out, layers.length), (address) => new Tensor(kaiseki, address));
      });
    } finally {
      probe.dispose();
    }
  }

  evaluate(data, options) {
    const run = this.evaluateBatches(data, options);
    for (;;) {
      const { done, value } = run.next();
      if (done) return value;
    }
  }

  /** Evaluates batch by batch. The caller may do other work between batches. */
  *evaluateBatches(data, { batchSize = 256 } = {}) {
    const { images, labels } = data,
      { kaiseki } = this,
      { module } = kaiseki,
      { outputShape } = this.summary;
    Tensor.addressOf(kaiseki, labels);
    const count = images.shape[0],
      labeled = labels.dtype === 'i32' && outputShape.length === 1;
    const classes = labeled && outputShape[0] <= MOST_CLASSES ? outputShape[0] : 0;
    expect(batchSize >= 1, 'evaluate', 'a batch size of 1 or more', batchSize);
    const confusion = new Int32Array(classes * classes);
    let loss = 0,
      correct = 0;
    for (let start = 0; start < count; start += batchSize) {
      const n = Math.min(batchSize, count - start);
      kaiseki.tidy(() =>
        module.scratch((reserve) => {
          const x = kaiseki.normalize(images.slice(0, start, n), data),
            wanted = labels.slice(0, start, n);
          const predicted = reserve(4 * n),
            batch = this.#scores('kaiseki_evaluate', [this.address, x.address, wanted.address], predicted);
          loss += batch.loss * n;
          correct += batch.correct;
          if (!classes) return;
          const right = wanted.toTypedArray();
          module.array(Int32Array, predicted, n).forEach((found, i) => ++confusion[right[i] * classes + found]);
        }),
      );
      yield;
    }
    return { loss: loss / count, accuracy: correct / count, confusion };
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
      module.bytes(module.call('kaiseki_weights_encode', this.address, module.putText(reserve, format))),
    );
  }

  loadWeights(bytes, { strict = true } = {}) {
    const { module } = this.kaiseki;
    const report = module.scratch((reserve) =>
      this.#text('kaiseki_weights_load', this.address, module.put(reserve, Uint8Array, bytes), bytes.length, strict),
    );
    this.#weightsSet = true;
    return report;
  }

  #text(name, ...args) {
    const { module } = this.kaiseki;
    return module.text(module.call(name, ...args));
  }

  #scores(name, args, ...more) {
    const { module } = this.kaiseki;
    return module.scratch((reserve) => {
      const out = reserve(16);
      module.call(name, ...args, out, ...more);
      const [loss, correct] = module.array(Float64Array, out, 2);
      return { loss, correct };
    });
  }
}
