// SPDX-License-Identifier: MIT
// The nodes. Names and devices come from the nodes, so they are shown as text only. Only the visible rows are drawn, so
// that 10,000 nodes scroll without a delay.
import { ago, count, plural, rate } from '../logic/format';
import type { PoolNode } from './api';
import { ConfirmButton } from './confirm-button';
import { NODE_ORDERS, NODE_STATES, nodeState, shortId } from './lists';
import type { Pool } from './pool';
import { Toolbar } from './toolbar';

function trust({ trusted, consecutive_valid: valid }: PoolNode): string {
  return [trusted && "the operator's", valid > 0 && `${count(valid)} checked`].filter(Boolean).join(', ') || 'new';
}

const BADGES = { connected: 'running', away: 'paused', expelled: 'cancelled' } as const;

function Row({ pool, node, index }: { pool: Pool; node: PoolNode; index: number }) {
  const { name, device, threads, gflops, connected, expelled, reason, leases, accepted, failed } = node;
  const why = reason || expelled;
  const state = nodeState(node);
  return (
    <div
      role="row"
      class="node-row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * pool.view.rowHeight.value}px)` }}
    >
      <div role="rowheader" class="node-name" title={`${name}\n${device}\n${node.node}`}>
        <b>{name || 'unnamed'}</b>
        <small>
          <code>{shortId(node.node)}</code> {device}
        </small>
      </div>
      <div role="cell" data-label="State" title={why}>
        <span class={`badge badge-${BADGES[state]}`}>{state}</span>
        {why && <small>{why}</small>}
      </div>
      <div role="cell" data-label="Speed">
        {plural(threads, 'thread')}
        {gflops > 0 && <small>{rate(gflops)} Gflop/s</small>}
      </div>
      <div role="cell" data-label="Trust">
        {trust(node)}
      </div>
      <div role="cell" data-label="Tickets" class="number">
        {count(leases)}
      </div>
      <div role="cell" data-label="Accepted" class="number">
        {count(accepted)}
      </div>
      <div role="cell" data-label="Failed" class="number">
        {failed > 0 ? <b class="bad">{count(failed)}</b> : 0}
      </div>
      <div role="cell" data-label="Last seen">
        {connected ? 'now' : ago(pool.now.value - node.last_seen)}
      </div>
      {pool.role.value === 'author' && (
        <div role="cell" class="node-action">
          {!expelled && (
            <ConfirmButton
              key={node.node}
              text="Expel"
              label={`Expel ${name || shortId(node.node)}`}
              act={() => void pool.expel(node.node)}
            />
          )}
        </div>
      )}
    </div>
  );
}

const COLUMNS = ['Node', 'State', 'Speed', 'Trust', 'Tickets', 'Accepted', 'Failed', 'Last seen'] as const;
const NUMBERS: readonly string[] = ['Tickets', 'Accepted', 'Failed'];

function Rows({ pool }: { pool: Pool }) {
  const { view } = pool;
  const { first, nodes, keys } = view.drawnNodes.value;
  const total = view.nodes.value.length;
  return (
    <div role="table" aria-label="Nodes" aria-rowcount={total + 1} class={`node-table ${pool.role.value}`}>
      <div role="rowgroup" class="node-head">
        <div role="row">
          {COLUMNS.map((title) => (
            <div key={title} role="columnheader" class={NUMBERS.includes(title) ? 'number' : ''}>
              {title}
            </div>
          ))}
          {pool.role.value === 'author' && (
            <div role="columnheader">
              <span class="hidden">Actions</span>
            </div>
          )}
        </div>
      </div>
      <div
        role="rowgroup"
        class="node-scroll"
        tabIndex={0}
        ref={view.scrollPlace}
        onScroll={({ currentTarget: { scrollTop, clientHeight } }) => view.scrolled(scrollTop, clientHeight)}
      >
        <div role="presentation" style={{ height: `${total * view.rowHeight.value}px` }} />
        {/* A row that scrolls out is used again for one that scrolls in. New elements would take most of a frame. */}
        {nodes.map((node, i) => (
          <Row key={keys[i]} pool={pool} node={node} index={first + i} />
        ))}
      </div>
    </div>
  );
}

export function Nodes({ pool }: { pool: Pool }) {
  const { view } = pool;
  const all = pool.nodes.value.length,
    found = view.nodes.value.length;
  return (
    <section class="card" aria-label="Nodes">
      <div class="card-header">
        <h2>Nodes</h2>
        <span class="note">{found === all ? count(all) : `${count(found)} of ${count(all)}`}</span>
      </div>
      {all === 0 ? (
        <p class="empty">
          No node has joined. <a href="/volunteer/">Compute in this browser</a>, or run <code>kaiseki join</code>.
        </p>
      ) : (
        <>
          <Toolbar
            view={view}
            search="Search name, device or id"
            states={NODE_STATES}
            state={view.nodeState}
            orders={NODE_ORDERS}
            order={view.nodeOrder}
          />
          {found === 0 ? <p class="empty">No node matches.</p> : <Rows pool={pool} />}
        </>
      )}
    </section>
  );
}
