// SPDX-License-Identifier: MIT
// A training that runs in the worker, and the settings that may change meanwhile.
import { checkLearningRate } from './values.js';

export class Training {
  #kaiseki;
  #id;
  #settings;

  constructor(kaiseki, network, optimizer, data, { signal, onStep, ...options }) {
    this.#kaiseki = kaiseki;
    this.#id = kaiseki.connection.number();
    const { batchSize = 64, learningRate = optimizer.learningRate } = options;
    this.#settings = { ...options, batchSize, learningRate, paused: false };
    this.finished = kaiseki.request(null, 'train', [network, optimizer, data, this.#settings], {
      id: this.#id,
      signal,
      onEvent: onStep,
    });
  }

  get learningRate() {
    return this.#settings.learningRate;
  }
  set learningRate(learningRate) {
    this.#change({ learningRate: checkLearningRate(learningRate) });
  }

  get batchSize() {
    return this.#settings.batchSize;
  }
  set batchSize(batchSize) {
    this.#change({ batchSize });
  }

  get paused() {
    return this.#settings.paused;
  }
  async pause() {
    this.#change({ paused: true });
    await this.#kaiseki.request(null, 'idle', []);
  }
  resume() {
    this.#change({ paused: false });
  }

  #change(settings) {
    Object.assign(this.#settings, settings);
    this.#kaiseki.connection.post({ change: this.#id, settings });
  }
}
