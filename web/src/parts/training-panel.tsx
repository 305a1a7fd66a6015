// SPDX-License-Identifier: MIT
import { plural, rate } from '../logic/format';
import { describe } from '../logic/recipe';
import type { Session } from '../state/session';
import { Panel } from './panel';

/** The initial learning rate of each optimizer on this page. */
const OPTIMIZERS = { momentum: 0.01, adam: 0.001, sgd: 0.05, rmsprop: 0.001 } as const;
const BATCHES = [10, 20, 50, 64, 100, 200];

/** The choices of the page, and the value that a recipe has set. */
const withUsed = <T,>(choices: T[], used: T): T[] => (choices.includes(used) ? choices : [...choices, used]);

export function TrainingPanel({ session }: { session: Session }) {
  const { learningRate, batchSize, epochs, optimizer, threads, phase } = session;
  const recipe = describe(session.network.value?.json.recipe ?? {});
  const running = phase.value === 'running';
  const maxThreads = globalThis.crossOriginIsolated ? Math.max(navigator.hardwareConcurrency || 1, threads.value) : 1;
  return (
    <Panel title="Training" choice={`rate ${rate(learningRate.value)}, ${plural(epochs.value, 'epoch')}`}>
      <div class="field">
        <span>
          <label for="rate">Learning rate</label> <output for="rate">{rate(learningRate.value)}</output>
        </span>
        <input
          id="rate"
          type="range"
          min="-4"
          max="0"
          step="0.05"
          value={Math.log10(learningRate.value)}
          aria-valuetext={rate(learningRate.value)}
          onInput={(event) => session.setLearningRate(Number(rate(10 ** Number(event.currentTarget.value))))}
        />
      </div>
      <div class="fields">
        <label class="field">
          <span>Batch size</span>
          <select value={batchSize.value} onChange={(event) => session.setBatchSize(Number(event.currentTarget.value))}>
            {withUsed(BATCHES, batchSize.value).map((size) => (
              <option key={size} value={size}>
                {size}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Epochs</span>
          <input
            type="number"
            min="1"
            max="100000"
            value={epochs.value}
            disabled={running}
            onChange={({ currentTarget }) => {
              if (currentTarget.value && currentTarget.checkValidity()) session.setEpochs(Number(currentTarget.value));
              else currentTarget.value = String(epochs.value);
            }}
          />
        </label>
        <label class="field">
          <span>Optimizer</span>
          <select
            value={optimizer.value}
            disabled={running}
            onChange={({ currentTarget }) => {
              const name = currentTarget.value as keyof typeof OPTIMIZERS;
              void session.setOptimizer(name, OPTIMIZERS[name]);
            }}
          >
            {withUsed(Object.keys(OPTIMIZERS), optimizer.value).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Threads</span>
          <select
            value={threads.value}
            disabled={running || maxThreads === 1}
            onChange={(event) => void session.open(Number(event.currentTarget.value))}
          >
            {Array.from({ length: maxThreads }, (_, i) => (
              <option key={i} value={i + 1}>
                {i + 1}
              </option>
            ))}
          </select>
        </label>
      </div>
      {recipe.used && <p class="note">From the recipe: {recipe.used}.</p>}
      {recipe.left && <p class="note">Not on this page: {recipe.left}.</p>}
      {maxThreads === 1 && <p class="note">This page cannot share memory, so it uses one thread.</p>}
      {running && <p class="note">Rate and batch size change at once; pause to change the others.</p>}
    </Panel>
  );
}
