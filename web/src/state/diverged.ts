// SPDX-License-Identifier: MIT
// Says why a training with an infinite or undefined loss has stopped.
import { rate } from '../logic/format';
import type { SavedTraining } from './keeper';

export const BAD_START =
  'The loss of the first step is infinite or not a number: the weights or the data are damaged. Reset, or load other weights.';

/** `good` is the copy that was restored. Null: there is none, because the network is too large. */
export const divergedText = (step: number, learningRate: number, good: SavedTraining | null): string =>
  `The loss became infinite or not a number after step ${step}, so training stopped. ` +
  `A learning rate of ${rate(learningRate)} is too high for this network. ` +
  (good
    ? `The weights of step ${good.history.step} are restored.`
    : 'The network is too large for copies of its weights: reset it, and choose a lower rate.');
