// SPDX-License-Identifier: MIT
// Charts of the pool over time, and of training.
import { Chart, EMPTY_TABLE, type Curve, type Table } from '../parts/chart';
import { count, percent, rate } from '../logic/format';
import { output } from '../logic/prediction';
import type { Pool } from './pool';
import { Select } from './toolbar';
import { TIME_RANGES, clock, timeRange, type TimeRange } from './view';

const TICKETS: readonly Curve[] = [{ label: 'tickets/s', color: '--celadon' }];
const NODES: readonly Curve[] = [{ label: 'connected', color: '--gold' }];

export function Charts({ pool }: { pool: Pool }) {
  const version = pool.version.value,
    range = pool.view.timeRange.value;
  const { time, rate: rates, nodes } = pool.history.value;
  const [first, last] = timeRange(range, time[0] ?? Infinity, time.at(-1) ?? pool.now.value);
  const common = {
    version: `${version} ${range}`,
    axis: 'Time',
    formatX: (at: number) => clock(at, last - first),
    emptyText: '',
    rangeOfX: (): [number, number] => [first, last],
  };
  const table = (values: number[]): Table => (time.length ? [time, values] : EMPTY_TABLE);
  const connected = pool.nodes.value.filter((node) => node.connected).length;
  return (
    <>
      <div class="toolbar">
        <Select<TimeRange>
          label="Time range"
          names={TIME_RANGES}
          value={range}
          set={(key) => (pool.view.timeRange.value = key)}
        />
      </div>
      <div class="pair">
        <Chart
          {...common}
          title="Throughput"
          curves={TICKETS}
          formatValue={rate}
          range={(_, __, high) => [0, Math.max(1, high ?? 0) * 1.1]}
          table={() => table(rates)}
          description={`Tickets a second, now ${rate(pool.rate.value)}`}
        />
        <Chart
          {...common}
          title="Nodes over time"
          curves={NODES}
          formatValue={count}
          range={(_, __, high) => [0, Math.max(2, high ?? 0) * 1.1]}
          table={() => table(nodes)}
          description={`Connected nodes, now ${count(connected)}`}
        />
      </div>
    </>
  );
}

const LOSS: readonly Curve[] = [{ label: 'loss', color: '--lacquer' }];
const ACCURACY: readonly Curve[] = [{ label: 'test', color: '--celadon', points: true }];

/** The training curves that a project has reported. */
export function TrainingCharts({ pool, project }: { pool: Pool; project: number }) {
  const points = pool.curves.value[project] ?? [];
  const version = pool.version.value;
  const table = (of: 'loss' | 'accuracy'): Table => {
    const some = points.filter((point) => point[of] !== undefined);
    return some.length ? [some.map(({ step }) => step), some.map((point) => point[of])] : EMPTY_TABLE;
  };
  const last = (of: 'loss' | 'accuracy') => points.findLast((point) => point[of] !== undefined)?.[of] ?? NaN;
  return (
    <div class="pair training">
      <Chart
        version={version}
        title="Loss"
        curves={LOSS}
        axis="Step"
        formatValue={output}
        emptyText={table('loss') === EMPTY_TABLE ? 'No loss yet' : ''}
        range={(_, __, high) => [0, Math.max(0.1, high ?? 2.5) * 1.05]}
        table={() => table('loss')}
        description={Number.isFinite(last('loss')) ? `Loss, now ${last('loss').toFixed(3)}` : 'No loss yet'}
      />
      <Chart
        version={version}
        title="Accuracy"
        curves={ACCURACY}
        axis="Step"
        formatValue={(value) => percent(value, 0)}
        range={() => [0, 1]}
        emptyText={table('accuracy') === EMPTY_TABLE ? 'No test yet' : ''}
        table={() => table('accuracy')}
        description={`Test accuracy, now ${percent(last('accuracy'))}`}
      />
    </div>
  );
}
