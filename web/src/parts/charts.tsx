// SPDX-License-Identifier: MIT
import uPlot from 'uplot';
import { percent } from '../logic/format';
import { output } from '../logic/prediction';
import { smooth } from '../logic/series';
import type { Session } from '../state/session';
import { Chart, EMPTY_TABLE, type Curve } from './chart';

const LOSS: readonly Curve[] = [
  { label: 'batch', color: '--faint', width: 1 },
  { label: 'running mean', color: '--lacquer', width: 2.5 },
];
const ACCURACY: readonly Curve[] = [
  { label: 'training', color: '--gold', width: 1.5 },
  { label: 'test', color: '--celadon', points: true },
];

export function Charts({ session }: { session: Session }) {
  const { history } = session;
  const loss = history.loss.value,
    accuracy = history.test.value?.accuracy;
  const begun = history.step.value > 0,
    version = history.version.value;
  return (
    <>
      <Chart
        version={version}
        title="Loss"
        curves={LOSS}
        axis="Step"
        formatValue={output}
        range={(_, low, high) => [0, Math.max(0.1, high ?? 2.5, low ?? 0) * 1.05]}
        table={() =>
          history.losses.x.length ? [history.losses.x, history.losses.y, smooth(history.losses.y)] : EMPTY_TABLE
        }
        description={
          Number.isFinite(loss) ? `Loss over ${history.step.value} steps, now ${loss.toFixed(3)}` : 'No loss yet'
        }
        emptyText={begun ? '' : 'The loss of every batch appears here.'}
      />
      <Chart
        version={version}
        title="Accuracy"
        curves={ACCURACY}
        axis="Step"
        formatValue={(value) => percent(value, 0)}
        range={() => [0, 1]}
        table={() =>
          history.accuracies.x.length || history.tests.x.length
            ? uPlot.join([
                [history.accuracies.x, smooth(history.accuracies.y)],
                [history.tests.x, history.tests.y],
              ])
            : EMPTY_TABLE
        }
        description={accuracy === undefined ? 'No accuracy yet' : `Test accuracy ${percent(accuracy)}`}
        emptyText={begun ? '' : 'The accuracy on batches and on test pictures appears here.'}
      />
    </>
  );
}
