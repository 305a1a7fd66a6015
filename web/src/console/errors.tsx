// SPDX-License-Identifier: MIT
// Why attempts failed, in the words of nodes: text, nothing else.
import { ago } from '../logic/format';
import { MOST_TASKS, type Pool } from './pool';

export function Errors({ pool }: { pool: Pool }) {
  const names = new Map(pool.nodes.value.map(({ node, name }) => [node, name]));
  return (
    <section class="plate" aria-label="Errors">
      <div class="plate-head"><h2>Errors</h2>{pool.tasks.value.length > MOST_TASKS && <span class="note">of the newest {MOST_TASKS} tasks</span>}</div>
      {pool.errors.value.length === 0 ? <p class="empty">No ticket has failed.</p> : (
        <ul class="errors" tabIndex={0} aria-label="Errors, newest first">
          {pool.errors.value.map((error, i) => (
            <li key={`${error.ticket} ${error.time} ${i}`}>
              <p class="note">{ago(pool.now.value - error.time)}: {error.taskName}, ticket {error.ticket}, node {names.get(error.node) || error.node.slice(0, 8)}</p>
              <p class="message">{error.error}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
