// SPDX-License-Identifier: MIT
import '../styles/base.css';
import '../styles/layout.css';
import '../styles/parts.css';
import '../styles/playground.css';
import { effect } from '@preact/signals';
import { mount } from '../parts/mount';
import { registerOffline } from '../state/offline';
import { App } from './app';
import { DigitsState } from './digits-state';
import { Learner } from './learner';
import { PlaneState } from './plane-state';

const learner = new Learner(new Worker(new URL('./learner.worker.ts', import.meta.url), { type: 'module' }));
const plane = new PlaneState(learner);
mount(<App plane={plane} digits={new DigitsState(learner)} />);
// The service worker fetches every file again, so it waits for the first drawing.
const stop = effect(() => {
  if (!plane.drawing.value && !plane.problem.value) return;
  registerOffline();
  queueMicrotask(() => stop());
});
