// SPDX-License-Identifier: MIT
// Who computes. Names and devices are what nodes say of themselves: text, nothing else.
import { ago, count, plural, rate } from '../logic/format';
import type { PoolNode } from './api';
import type { Pool } from './pool';
import { Sure } from './sure';
import { Table } from './table';

/** All of 10,000 would take longer to draw than they are true. Those that are connected come first. */
const MOST_NODES = 200;

function trust({ trusted, consecutive_valid: valid }: PoolNode): string {
  return [trusted && 'the operator\'s', valid > 0 && `${count(valid)} checked`].filter(Boolean).join(', ') || 'newcomer';
}

function Row({ pool, node }: { pool: Pool; node: PoolNode }) {
  const { name, device, threads, gflops, connected, expelled, reason, leases, accepted, failed } = node;
  const why = reason || expelled;
  return (
    <tr role="row">
      <th role="rowheader" scope="row" class="name">{name || 'without a name'}<small>{device}</small>{why && <small>{why}</small>}</th>
      <td role="cell" data-label="State" class="state">
        <span class={`badge badge-${expelled ? 'cancelled' : connected ? 'running' : 'paused'}`}>{expelled ? 'expelled' : connected ? 'connected' : 'away'}</span>
      </td>
      <td role="cell" data-label="Speed">{plural(threads, 'thread')}{gflops > 0 && <small>{rate(gflops)} Gflop/s</small>}</td>
      <td role="cell" data-label="Trust">{trust(node)}</td>
      <td role="cell" data-label="Holds" class="number">{count(leases)}</td>
      <td role="cell" data-label="Accepted" class="number">{count(accepted)}</td>
      <td role="cell" data-label="Failed" class="number">{failed > 0 ? <b class="bad">{count(failed)}</b> : 0}</td>
      <td role="cell" data-label="Last seen">{connected ? 'now' : ago(pool.now.value - node.last_seen)}</td>
      {pool.role.value === 'author' && (
        <td role="cell" class="last">{!expelled && <Sure text="Expel" label={`Expel ${name}`} act={() => void pool.expel(node.node)} />}</td>
      )}
    </tr>
  );
}

const COLUMNS = [['name', 'Node'], ['state', 'State'], ['', 'Speed'], ['', 'Trust'], ['number', 'Holds'], ['number', 'Accepted'],
  ['number', 'Failed'], ['', 'Last seen']] as const;

export function Nodes({ pool }: { pool: Pool }) {
  const nodes = pool.nodes.value;
  const shown = [...nodes].sort((a, b) => Number(b.connected) - Number(a.connected)).slice(0, MOST_NODES);
  return (
    <section class="plate" aria-label="Nodes">
      <div class="plate-head"><h2>Nodes</h2></div>
      {nodes.length === 0 ? <p class="empty">No node is here. Pages join at /volunteer/, machines with kaiseki join.</p> : (
        <Table columns={COLUMNS} actions={pool.role.value === 'author'} className="nodes">
          {shown.map((node) => <Row key={node.node} pool={pool} node={node} />)}
        </Table>
      )}
      {nodes.length > shown.length && <p class="empty">and {count(nodes.length - shown.length)} more</p>}
    </section>
  );
}
