// SPDX-License-Identifier: MIT
// What the pool did since the console was opened.
import { Chart, NOTHING, type Curve, type Table } from '../parts/chart';
import { count, percent, rate } from '../logic/format';
import type { Pool } from './pool';

const TICKETS: readonly Curve[] = [{ label: 'tickets/s', colour: '--celadon' }];
const NODES: readonly Curve[] = [{ label: 'connected', colour: '--gold' }];
const SECONDS = 60;

export function Charts({ pool }: { pool: Pool }) {
  const version = pool.version.value;
  const nodes = pool.connected.y.at(-1) ?? 0;
  return (
    <div class="pair">
      <Chart version={version} span={SECONDS} title="Throughput" curves={TICKETS} text={rate} empty=""
             range={(_, __, high) => [0, Math.max(1, high ?? 0) * 1.1]}
             table={() => (pool.throughput.x.length ? [pool.throughput.x, pool.throughput.y] : NOTHING)}
             says={`Tickets a second since the console was opened, now ${rate(pool.rate.value)}`} />
      <Chart version={version} span={SECONDS} title="Nodes over time" curves={NODES} text={count} empty=""
             range={(_, __, high) => [0, Math.max(2, high ?? 0) * 1.1]}
             table={() => (pool.connected.x.length ? [pool.connected.x, pool.connected.y] : NOTHING)}
             says={`Connected nodes since the console was opened, now ${count(nodes)}`} />
    </div>
  );
}

const LOSS: readonly Curve[] = [{ label: 'loss', colour: '--lacquer' }];
const ACCURACY: readonly Curve[] = [{ label: 'test', colour: '--celadon', points: true }];

/** How the training of a project goes, as it told. */
export function TrainingCharts({ pool, project }: { pool: Pool; project: number }) {
  const points = pool.curves.value[project] ?? [];
  const version = pool.version.value;
  const table = (of: 'loss' | 'accuracy'): Table => {
    const some = points.filter((point) => point[of] !== undefined);
    return some.length ? [some.map(({ step }) => step), some.map((point) => point[of])] : NOTHING;
  };
  const last = (of: 'loss' | 'accuracy') => points.findLast((point) => point[of] !== undefined)?.[of] ?? NaN;
  return (
    <div class="pair training">
      <Chart version={version} title="Loss" curves={LOSS} text={String} empty={table('loss') === NOTHING ? 'No loss yet' : ''}
             range={(_, __, high) => [0, Math.max(0.1, high ?? 2.5) * 1.05]} table={() => table('loss')}
             says={Number.isFinite(last('loss')) ? `Loss, now ${last('loss').toFixed(3)}` : 'No loss yet'} />
      <Chart version={version} title="Accuracy" curves={ACCURACY} text={(value) => percent(value, 0)} range={() => [0, 1]}
             empty={table('accuracy') === NOTHING ? 'No test yet' : ''} table={() => table('accuracy')}
             says={`Test accuracy, now ${percent(last('accuracy'))}`} />
    </div>
  );
}
