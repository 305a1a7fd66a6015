// SPDX-License-Identifier: MIT
import { rate } from '../logic/format';
import type { Session } from '../state/session';
import { Course } from './course';

/** The learning rate that each starts with here. */
const OPTIMIZERS = { momentum: 0.01, adam: 0.001, sgd: 0.05, rmsprop: 0.001 } as const;
const BATCHES = [10, 20, 50, 64, 100, 200];

export function TrainingCourse({ session }: { session: Session }) {
  const { learningRate, batchSize, optimizer, threads, phase } = session;
  const running = phase.value === 'running';
  const most = globalThis.crossOriginIsolated ? Math.max(navigator.hardwareConcurrency || 1, threads.value) : 1;
  return (
    <Course title="Training" choice={`rate ${rate(learningRate.value)}, batches of ${batchSize.value}`}>
      <div class="field">
        <span><label for="rate">Learning rate</label> <output for="rate">{rate(learningRate.value)}</output></span>
        <input id="rate" type="range" min="-4" max="0" step="0.05" value={Math.log10(learningRate.value)}
               aria-valuetext={rate(learningRate.value)}
               onInput={(event) => session.setLearningRate(Number(rate(10 ** Number(event.currentTarget.value))))} />
      </div>
      <div class="fields">
        <label class="field">
          <span>Batch size</span>
          <select value={batchSize.value} onChange={(event) => session.setBatchSize(Number(event.currentTarget.value))}>
            {BATCHES.map((size) => <option key={size} value={size}>{size}</option>)}
          </select>
        </label>
        <label class="field">
          <span>Optimizer</span>
          <select value={optimizer.value} disabled={running} onChange={({ currentTarget }) => {
            const name = currentTarget.value as keyof typeof OPTIMIZERS;
            void session.setOptimizer(name, OPTIMIZERS[name]);
          }}>
            {Object.keys(OPTIMIZERS).map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <label class="field">
          <span>Threads</span>
          <select value={threads.value} disabled={running || most === 1}
                  onChange={(event) => void session.open(Number(event.currentTarget.value))}>
            {Array.from({ length: most }, (_, i) => <option key={i} value={i + 1}>{i + 1}</option>)}
          </select>
        </label>
      </div>
      {most === 1 && <p class="note">This page may not share memory, so one thread computes.</p>}
      {running && <p class="note">Rate and batch size change at once; pause to change the others.</p>}
    </Course>
  );
}
