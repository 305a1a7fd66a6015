// SPDX-License-Identifier: MIT
// The reasons of failed attempts. Nodes send these messages, so they are shown as text only.
import { ago, count, plural } from '../logic/format';
import { pageOf, shortId } from './lists';
import { MAX_TASKS, type Pool } from './pool';
import { Pager, Search } from './toolbar';
import { PAGE_SIZE, linkTo } from './view';

/** A node's name with the id that its row shows. */
function nodeText(names: Map<string, string>, id: string): string {
  const name = names.get(id);
  return name ? `${name} (${shortId(id)})` : `node ${shortId(id)}`;
}

/** Explains an empty list. An attempt that ends without a result, as in a lost connection, has no error. */
function emptyText(dead: number, failed: number): string {
  if (dead === 0 && failed === 0) return 'No ticket has failed.';
  const lost = `No node has reported an error. ${plural(failed, 'attempt')} ended without a result, such as by a lost connection or a time-out`;
  return dead === 0 ? `${lost}.` : `${lost}. ${plural(dead, 'ticket')} failed too often.`;
}

export function Errors({ pool }: { pool: Pool }) {
  const { view } = pool;
  const all = pool.errors.value;
  const names = new Map(pool.nodes.value.map(({ node, name }) => [node, name]));
  const part = view.search.value.trim().toLowerCase();
  const found = all.filter(({ ticket, node, taskName, error }) =>
    `${taskName} ticket ${ticket} ${nodeText(names, node)} ${error}`.toLowerCase().includes(part),
  );
  const { items, page, pages } = pageOf(found, view.page.value, PAGE_SIZE);
  const dead = pool.tasks.value.reduce((sum, task) => sum + task.dead, 0);
  const failed = pool.nodes.value.reduce((sum, node) => sum + node.failed, 0);
  return (
    <section class="card" aria-label="Errors">
      <div class="card-header">
        <h2>Errors</h2>
        <span class="note">
          {count(dead)} dead {dead === 1 ? 'ticket' : 'tickets'}
          {pool.tasks.value.length > MAX_TASKS &&
            `; errors of ${MAX_TASKS} tasks: those with dead tickets, then the newest`}
        </span>
      </div>
      {all.length === 0 ? (
        <p class="empty">{emptyText(dead, failed)}</p>
      ) : (
        <>
          <div class="toolbar">
            <Search view={view} label="Search errors" />
          </div>
          {found.length === 0 && <p class="empty">No error matches.</p>}
          <ul class="errors" aria-label="Errors, newest first">
            {items.map((error, i) => (
              <li key={`${error.ticket} ${error.time} ${i}`}>
                <p class="note">
                  {ago(pool.now.value - error.time)}:{' '}
                  <a href={linkTo('projects', `task ${error.task}`)}>{error.taskName}</a>, ticket {error.ticket},{' '}
                  <a href={linkTo('nodes', shortId(error.node))}>{nodeText(names, error.node)}</a>
                </p>
                <p class="message">{error.error}</p>
              </li>
            ))}
          </ul>
          <Pager what="errors" page={page} pages={pages} set={(next) => (view.page.value = next)} />
        </>
      )}
    </section>
  );
}
