// SPDX-License-Identifier: MIT
// The pool's totals.
import { count, rate } from '../logic/format';
import type { Pool } from './pool';

export function Summary({ pool }: { pool: Pool }) {
  const tasks = pool.tasks.value,
    nodes = pool.nodes.value.filter((node) => node.connected);
  const sum = (of: (task: (typeof tasks)[0]) => number) => tasks.reduce((all, task) => all + of(task), 0);
  const wanted = tasks.filter((task) => task.state !== 'cancelled');
  const open = wanted.reduce((all, { free, leased }) => all + free + leased, 0);
  return (
    <section class="card" aria-label="The pool in numbers">
      <dl class="stats figures">
        <div>
          <dt>Nodes</dt>
          <dd>{count(nodes.length)}</dd>
        </div>
        <div>
          <dt>Threads</dt>
          <dd>{count(nodes.reduce((all, node) => all + node.threads, 0))}</dd>
        </div>
        <div class="stat-good">
          <dt>Tickets/s</dt>
          <dd>{rate(pool.rate.value)}</dd>
        </div>
        <div>
          <dt>Open</dt>
          <dd>{count(open)}</dd>
        </div>
        <div>
          <dt>Computed now</dt>
          <dd>{count(sum((task) => task.leased))}</dd>
        </div>
        <div>
          <dt>Done</dt>
          <dd>{count(sum((task) => task.done))}</dd>
        </div>
        <div>
          <dt>Dead</dt>
          <dd>{count(sum((task) => task.dead))}</dd>
        </div>
      </dl>
    </section>
  );
}
