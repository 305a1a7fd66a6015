// SPDX-License-Identifier: MIT
import uPlot from 'uplot';
import { percent } from '../logic/format';
import { smooth } from '../logic/series';
import type { Session } from '../state/session';
import { Chart, NOTHING, type Curve } from './chart';

const LOSS: readonly Curve[] = [
  { label: 'batch', colour: '--lacquer', width: 1, faint: true },
  { label: 'running mean', colour: '--lacquer' },
];
const ACCURACY: readonly Curve[] = [
  { label: 'training', colour: '--gold', width: 1.5 },
  { label: 'test', colour: '--celadon', points: true },
];

export function Charts({ session }: { session: Session }) {
  const { history } = session;
  const loss = history.loss.value, accuracy = history.test.value?.accuracy;
  const begun = history.step.value > 0, version = history.version.value;
  return (
    <>
      <Chart version={version} title="Loss" curves={LOSS} text={(value) => String(value)}
             range={(_, low, high) => [0, Math.max(0.1, high ?? 2.5, low ?? 0) * 1.05]}
             table={() => (history.losses.x.length ? [history.losses.x, history.losses.y, smooth(history.losses.y)] : NOTHING)}
             says={Number.isFinite(loss) ? `Loss over ${history.step.value} steps, now ${loss.toFixed(3)}` : 'No loss yet'}
             empty={begun ? '' : 'The loss of every batch appears here.'} />
      <Chart version={version} title="Accuracy" curves={ACCURACY} text={(value) => percent(value, 0)} range={() => [0, 1]}
             table={() => (history.accuracies.x.length || history.tests.x.length
               ? uPlot.join([[history.accuracies.x, smooth(history.accuracies.y)], [history.tests.x, history.tests.y]]) : NOTHING)}
             says={accuracy === undefined ? 'No accuracy yet' : `Test accuracy ${percent(accuracy)}`}
             empty={begun ? '' : 'How often it is right: on batches, and on pictures it never saw.'} />
    </>
  );
}
