// SPDX-License-Identifier: MIT
// The progress of a training, as a sentence.
import { count, duration, rate } from '../logic/format';
import type { Point } from './api';

/** A training deletes its tickets, so its step tells the progress. `pace`: steps a second. */
export function trainingText(points: readonly Point[], pace: number): string {
  const last = points.at(-1);
  if (!last) return 'No step yet';
  const { step, steps, epoch, epochs } = last;
  const loss = points.findLast((point) => point.loss !== undefined)?.loss;
  return [
    epoch && epochs && `epoch ${count(epoch)} of ${count(epochs)}`,
    `step ${count(step)}${steps ? ` of ${count(steps)}` : ''}`,
    pace > 0 && `${rate(pace)} steps/s`,
    pace > 0 && steps && steps > step && `${duration((steps - step) / pace)} left`,
    loss !== undefined && `loss ${loss.toPrecision(3)}`,
  ]
    .filter(Boolean)
    .join(', ')
    .replace(/^./, (first) => first.toUpperCase());
}
